import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { decodeTransaction, type OutputReference, type Transaction } from '@ratatosk/ledger'
import { isLayer1Error } from './errors.js'
import type { CallOptions, Layer1 } from './types.js'
import { missingInputs, type Wallet } from './wallet/open-wallet.js'

/** A signed transaction. */
export interface OutboxTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array
  /** CBOR. */
  readonly bytes: Uint8Array
  /** Its purpose, as log lines name it. */
  readonly stage?: string
}

/** The state of a transaction. `dead`: layer 1 can no longer include it. */
export type OutboxState = 'included' | 'pending' | 'dead'

/**
 * The outcome of a sending. `open`: layer 1 has not accepted it, and may still have it or take it; `refused`:
 * it never will.
 */
export type OutboxSending = 'sent' | 'open' | 'refused'

/** Options of {@link createOutbox}. */
export interface OutboxOptions<Each extends OutboxTransaction = OutboxTransaction> {
  readonly layer1: Pick<Layer1, 'submit' | 'status' | 'spending' | 'utxosByReferences'>
  /** Slots after which a transaction that no block includes is sent again. */
  readonly resendEverySlots: number
  /**
   * Slots after which a transaction that layer 1 has refused is sent again, and its parents, which it may
   * lack. Default `resendEverySlots`.
   */
  readonly refusedSlots?: number
  /** The wallet that has built the transactions: it withholds their inputs while they may be included. */
  readonly wallet?: Pick<Wallet, 'submit' | 'adopt' | 'release' | 'isInFlight'>
  /** Stores a transaction, before it is sent for the first time; by default nothing. */
  readonly record?: (transaction: Each) => Promise<void>
  /** Deletes a stored transaction that is refused or dead, before its inputs are free; by default nothing. */
  readonly forget?: (transaction: Each, why: 'refused' | 'dead') => Promise<void>
  /**
   * Reads those of these transactions that are stored: each is followed before one that spends or reads its
   * outputs is held or sent again. By default, the caller follows parents before their children.
   */
  readonly parents?: (ids: readonly Uint8Array[]) => Promise<readonly Each[]>
  /** Called after each sending that layer 1 has accepted, or refused although it may have an effect. */
  readonly sent?: (transaction: Each) => void
  /**
   * Slots for which an unknown transaction counts as pending after its validity has ended, for a provider
   * whose answers may be older than its tip. Default 0.
   */
  readonly lagSlots?: number
  readonly log?: { warn(fields: Readonly<Record<string, unknown>>, message: string): void }
}

/** Sends transactions of layer 1 until it includes them or can no longer include them. */
export interface Outbox<Each extends OutboxTransaction = OutboxTransaction> {
  /**
   * Records a transaction and sends it. `open`: follow it like one that was sent. `refused`: it is forgotten,
   * and its inputs are free.
   *
   * @param slot of a tip that was just read
   * @throws {Layer1Error} (rejects) if the network is not the transaction's, or refuses the credential
   */
  send(transaction: Each, slot: bigint, options?: CallOptions): Promise<OutboxSending>
  /**
   * Looks a transaction up, and sends it again when that is due. It may be one of an earlier process. A dead
   * one is forgotten, and its inputs are free.
   *
   * @param slot of a tip that was read before this call
   * @throws {Layer1Error} (rejects) if layer 1 does not answer
   */
  follow(transaction: Each, slot: bigint, options?: CallOptions): Promise<OutboxState>
  /**
   * Gives a transaction up, though layer 1 may include it: its children are dead, its inputs are free. Its
   * caller deletes it from the store.
   */
  drop(id: Uint8Array): void
}

/** Dead transactions that are remembered, so that their children are dead too. */
const rememberedDead = 10_000

/**
 * Opens an outbox. It keeps in memory only when it has sent what: a transaction is looked up before it is
 * sent again, so that an outbox of another process can go on with it.
 *
 * @example
 * const outbox = createOutbox({ layer1, wallet, resendEverySlots: 30 })
 * await outbox.send(await wallet.build(draft), (await layer1.tip()).slot)
 */
export function createOutbox<Each extends OutboxTransaction = OutboxTransaction>(
  options: OutboxOptions<Each>,
): Outbox<Each> {
  return new TransactionOutbox(options)
}

interface Pending {
  readonly transaction: Transaction
  /** The slot in which it was sent or found in a mempool; undefined before. */
  sentAt?: bigint
  /** The slot in which it is sent again. */
  dueAt: bigint
  /** Whether layer 1 has accepted it. */
  isAccepted: boolean
}

class TransactionOutbox<Each extends OutboxTransaction> implements Outbox<Each> {
  readonly #options: OutboxOptions<Each>
  readonly #pending = new BytesMap<Pending>()
  readonly #dead = new BytesSet()
  /** The slot for which what has expired is forgotten. */
  #cleanAt: bigint | undefined

  constructor(options: OutboxOptions<Each>) {
    this.#options = options
  }

  async send(transaction: Each, slot: bigint, options: CallOptions = {}): Promise<OutboxSending> {
    const { record, forget } = this.#options
    this.#forgetExpired(slot)
    await record?.(transaction)
    const sending = await this.#submit(transaction, this.#pendingOf(transaction), slot, options).catch(
      unlessFinal,
    )
    if (sending === 'refused') {
      await forget?.(transaction, sending)
      this.#forget(transaction.id)
    }
    return sending
  }

  async follow(transaction: Each, slot: bigint, options: CallOptions = {}): Promise<OutboxState> {
    const { layer1, wallet } = this.#options
    const { id } = transaction
    const { kind } = await layer1.status(id, options)
    if (kind === 'confirmed') return this.#include(id)
    const pending = this.#pendingOf(transaction)
    const expiry = kind === 'unknown' ? this.#expiry(pending.transaction, slot) : 'none'
    if (expiry !== 'none') return expiry === 'likely' ? 'pending' : this.#bury(transaction)
    if (kind === 'pending') this.#defer(pending, slot, true)
    const isWaiting = kind === 'pending' || isRecent(pending, slot)
    if (!isWaiting || !this.#isHeld(id)) await this.#followParents(pending.transaction, slot, options)
    // A mempool has it only with its parents, whatever was known about them.
    const isDead = (parent: Uint8Array): boolean => this.#dead.has(parent)
    if (kind === 'unknown' && parentsOf(pending.transaction).some(isDead)) return this.#bury(transaction)
    // An earlier process has built it, or it was released.
    if (!this.#isHeld(id)) await wallet?.adopt(transaction.bytes, options)
    if (isWaiting && pending.isAccepted) return 'pending'
    if (await this.#isOvertaken(pending.transaction, options)) {
      // It may have been included since it was looked up, and something else have spent what it only reads.
      const isIncluded = (await layer1.status(id, options)).kind === 'confirmed'
      return isIncluded ? this.#include(id) : this.#bury(transaction)
    }
    if (!isWaiting) await this.#submit(transaction, pending, slot, options)
    return 'pending'
  }

  drop(id: Uint8Array): void {
    this.#dead.add(id)
    const [oldest] = this.#dead
    if (this.#dead.size > rememberedDead && oldest !== undefined) this.#dead.delete(oldest)
    this.#forget(id)
  }

  #pendingOf({ id, bytes }: Each): Pending {
    const pending = this.#pending.get(id) ?? {
      transaction: decodeTransaction(bytes),
      dueAt: 0n,
      isAccepted: false,
    }
    this.#pending.set(id, pending)
    return pending
  }

  #isHeld(id: Uint8Array): boolean {
    return this.#options.wallet?.isInFlight(id) ?? true
  }

  /** Forgets when it has sent what has expired, and may not be followed any more. */
  #forgetExpired(slot: bigint): void {
    if (slot === this.#cleanAt) return
    this.#cleanAt = slot
    for (const [id, { transaction }] of [...this.#pending])
      if (this.#expiry(transaction, slot) === 'certain') this.#pending.delete(id)
  }

  /** Whether a validity has ended. `likely`: an answer about the transaction may be older than the tip. */
  #expiry({ body: { validityInterval } }: Transaction, slot: bigint): 'none' | 'likely' | 'certain' {
    const { invalidHereafter } = validityInterval
    if (invalidHereafter === undefined || slot < invalidHereafter) return 'none'
    return slot < invalidHereafter + BigInt(this.#options.lagSlots ?? 0) ? 'likely' : 'certain'
  }

  async #followParents(transaction: Transaction, slot: bigint, options: CallOptions): Promise<void> {
    const parents = (await this.#options.parents?.(parentsOf(transaction))) ?? []
    for (const parent of parents) await this.follow(parent, slot, options)
  }

  /** Lets a transaction wait that was sent or found in this slot. */
  #defer(pending: Pending, slot: bigint, isAccepted: boolean): void {
    const { resendEverySlots, refusedSlots = resendEverySlots } = this.#options
    pending.isAccepted ||= isAccepted
    pending.sentAt = slot
    pending.dueAt = slot + BigInt(pending.isAccepted ? resendEverySlots : refusedSlots)
  }

  /** `refused`: no earlier sending can have an effect either. */
  async #submit(
    transaction: Each,
    pending: Pending,
    slot: bigint,
    options: CallOptions,
  ): Promise<OutboxSending> {
    const { layer1, wallet, log, sent } = this.#options
    const { id, stage } = transaction
    const isFirst = pending.sentAt === undefined
    try {
      if (wallet === undefined) await layer1.submit(transaction.bytes, options)
      else await wallet.submit(transaction, options)
    } catch (error) {
      if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
      log?.warn(
        { transaction: toHex(id), ...(stage !== undefined && { stage }), reason: error.reason },
        `Layer 1 refused a transaction: ${error.message}`,
      )
      if (isFirst && !error.mayHaveEffect) return 'refused'
      // It may wait in a mempool that the provider does not show, be overtaken, or lack its parents.
      this.#defer(pending, slot, false)
      if (!pending.isAccepted) this.#hasten(parentsOf(pending.transaction), pending.dueAt)
      sent?.(transaction)
      return 'open'
    }
    this.#defer(pending, slot, true)
    sent?.(transaction)
    return 'sent'
  }

  /** Lets transactions in flight wait no longer than until a slot. */
  #hasten(ids: readonly Uint8Array[], dueAt: bigint): void {
    for (const id of ids) {
      const pending = this.#pending.get(id)
      if (pending !== undefined && pending.dueAt > dueAt) pending.dueAt = dueAt
    }
  }

  /** Whether another transaction spends one of its inputs. An input that is only missing proves nothing. */
  async #isOvertaken(transaction: Transaction, options: CallOptions): Promise<boolean> {
    const { layer1, wallet } = this.#options
    const isInFlight = (id: Uint8Array) => this.#pending.has(id) || wallet?.isInFlight(id) === true
    for (const reference of await missingInputs(layer1, isInFlight, transaction, options)) {
      const spending = await layer1.spending(reference, options)
      if (spending !== undefined && !equalBytes(spending.transactionId, transaction.id)) return true
    }
    return false
  }

  #include(id: Uint8Array): 'included' {
    this.#pending.delete(id)
    // After a roll-back, layer 1 can include what had expired.
    this.#dead.delete(id)
    return 'included'
  }

  async #bury(transaction: Each): Promise<'dead'> {
    await this.#options.forget?.(transaction, 'dead')
    this.drop(transaction.id)
    return 'dead'
  }

  #forget(id: Uint8Array): void {
    this.#pending.delete(id)
    this.#options.wallet?.release(id)
  }
}

function isRecent({ sentAt, dueAt }: Pending, slot: bigint): boolean {
  // A tip older than `sentAt`: layer 1 was rolled back and may have lost the transaction.
  return sentAt !== undefined && slot >= sentAt && slot < dueAt
}

const finalCodes: ReadonlySet<string> = new Set(['LAYER1_WRONG_NETWORK', 'LAYER1_UNAUTHORIZED'])

function unlessFinal(error: unknown): OutboxSending {
  if (isLayer1Error(error) && !finalCodes.has(error.code)) return 'open'
  throw error
}

const parentsOf = ({ body }: Transaction): Uint8Array[] => {
  const references: readonly OutputReference[] = [
    ...body.inputs,
    ...body.referenceInputs,
    ...body.collateralInputs,
  ]
  return references.map(({ transactionId }) => transactionId)
}
