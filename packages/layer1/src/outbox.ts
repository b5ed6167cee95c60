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
}

/** The state of a transaction. `dead`: layer 1 can no longer include it. */
export type OutboxState = 'included' | 'pending' | 'dead'

/**
 * The outcome of a sending. `open`: layer 1 has not accepted it, and may still have it or take it; `refused`:
 * it never will.
 */
export type OutboxSending = 'sent' | 'open' | 'refused'

/** Options of {@link createOutbox}. */
export interface OutboxOptions {
  readonly layer1: Pick<Layer1, 'submit' | 'status' | 'spending' | 'utxosByReferences'>
  /** Slots after which a transaction that no block includes is sent again. */
  readonly resendEverySlots: number
  /** The wallet that has built the transactions: it withholds their inputs while they may be included. */
  readonly wallet?: Pick<Wallet, 'submit' | 'adopt' | 'release' | 'isInFlight'>
  /** Stores a transaction, before it is sent for the first time; by default nothing. */
  readonly record?: (transaction: OutboxTransaction) => Promise<void>
  /**
   * Slots for which an unknown transaction counts as pending after its validity has ended, for a provider
   * whose answers may be older than its tip. Default 0.
   */
  readonly lagSlots?: number
  readonly log?: { warn(fields: Readonly<Record<string, unknown>>, message: string): void }
}

/** Sends transactions of layer 1 until it includes them or can no longer include them. */
export interface Outbox {
  /**
   * Records a transaction and sends it. `open`: follow it like one that was sent. `refused`: it is forgotten,
   * and its inputs are free.
   *
   * @param slot of a tip that was just read
   * @throws {Layer1Error} (rejects) if the network is not the transaction's, or refuses the credential
   */
  send(transaction: OutboxTransaction, slot: bigint, options?: CallOptions): Promise<OutboxSending>
  /**
   * Looks a transaction up, and sends it again when that is due. It may be one of an earlier process. Parents
   * come before their children. A dead one is forgotten, and its inputs are free.
   *
   * @param slot of a tip that was read before this call
   * @throws {Layer1Error} (rejects) if layer 1 does not answer
   */
  follow(transaction: OutboxTransaction, slot: bigint, options?: CallOptions): Promise<OutboxState>
  /** Gives a transaction up, though layer 1 may include it: its children are dead, its inputs are free. */
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
export function createOutbox(options: OutboxOptions): Outbox {
  return new TransactionOutbox(options)
}

interface Pending {
  readonly transaction: Transaction
  /** The slot in which it was sent or found in a mempool; undefined before. */
  sentAt?: bigint
  /** Whether layer 1 has accepted it. */
  isAccepted: boolean
}

class TransactionOutbox implements Outbox {
  readonly #options: OutboxOptions
  readonly #pending = new BytesMap<Pending>()
  readonly #dead = new BytesSet()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  async send(
    transaction: OutboxTransaction,
    slot: bigint,
    options: CallOptions = {},
  ): Promise<OutboxSending> {
    await this.#options.record?.(transaction)
    const sending = await this.#submit(transaction, this.#pendingOf(transaction), slot, options).catch(
      unlessFinal,
    )
    if (sending === 'refused') this.#forget(transaction.id)
    return sending
  }

  async follow(
    transaction: OutboxTransaction,
    slot: bigint,
    options: CallOptions = {},
  ): Promise<OutboxState> {
    const { layer1 } = this.#options
    const { id } = transaction
    const { kind } = await layer1.status(id, options)
    if (kind === 'confirmed') {
      this.#pending.delete(id)
      return 'included'
    }
    const pending = this.#pendingOf(transaction)
    const { body } = pending.transaction
    if (parentsOf(pending.transaction).some((parent) => this.#dead.has(parent))) return this.#bury(id)
    const { invalidHereafter } = body.validityInterval
    if (kind === 'unknown' && invalidHereafter !== undefined && slot >= invalidHereafter) {
      if (slot < invalidHereafter + BigInt(this.#options.lagSlots ?? 0)) return 'pending'
      return this.#bury(id)
    }
    await this.#hold(transaction, options)
    if (kind === 'pending') {
      pending.sentAt = slot
      pending.isAccepted = true
    }
    const isRecent = this.#isRecent(pending, slot)
    if (isRecent && pending.isAccepted) return 'pending'
    if (await this.#isOvertaken(pending.transaction, options)) {
      // It may have been included since it was looked up, and something else have spent what it only reads.
      if ((await layer1.status(id, options)).kind !== 'confirmed') return this.#bury(id)
      this.#pending.delete(id)
      return 'included'
    }
    if (!isRecent) await this.#submit(transaction, pending, slot, options)
    return 'pending'
  }

  drop(id: Uint8Array): void {
    this.#bury(id)
  }

  #pendingOf({ id, bytes }: OutboxTransaction): Pending {
    const pending = this.#pending.get(id) ?? { transaction: decodeTransaction(bytes), isAccepted: false }
    this.#pending.set(id, pending)
    return pending
  }

  /** Withholds the inputs of a transaction that an earlier process has built, or that was released. */
  async #hold({ id, bytes }: OutboxTransaction, options: CallOptions): Promise<void> {
    const { wallet } = this.#options
    if (wallet !== undefined && !wallet.isInFlight(id)) await wallet.adopt(bytes, options)
  }

  #isRecent({ sentAt }: Pending, slot: bigint): boolean {
    // A tip older than `sentAt`: layer 1 was rolled back and may have lost the transaction.
    if (sentAt === undefined || slot < sentAt) return false
    return slot < sentAt + BigInt(this.#options.resendEverySlots)
  }

  /** `refused`: no earlier sending can have an effect either. */
  async #submit(
    transaction: OutboxTransaction,
    pending: Pending,
    slot: bigint,
    options: CallOptions,
  ): Promise<OutboxSending> {
    const { layer1, wallet, log } = this.#options
    const isFirst = pending.sentAt === undefined
    try {
      if (wallet === undefined) await layer1.submit(transaction.bytes, options)
      else await wallet.submit(transaction, options)
    } catch (error) {
      if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
      log?.warn(
        { transaction: toHex(transaction.id), reason: error.reason },
        `Layer 1 refused a transaction: ${error.message}`,
      )
      if (isFirst && !error.mayHaveEffect) return 'refused'
      // It may wait in a mempool that the provider does not show, or be overtaken.
      pending.sentAt = slot
      return 'open'
    }
    pending.sentAt = slot
    pending.isAccepted = true
    return 'sent'
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

  #bury(id: Uint8Array): 'dead' {
    this.#dead.add(id)
    const [oldest] = this.#dead
    if (this.#dead.size > rememberedDead && oldest !== undefined) this.#dead.delete(oldest)
    this.#forget(id)
    return 'dead'
  }

  #forget(id: Uint8Array): void {
    this.#pending.delete(id)
    this.#options.wallet?.release(id)
  }
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
