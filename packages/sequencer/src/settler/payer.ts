import { BytesMap, BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { createOutbox, type Layer1, type Outbox, type Wallet } from '@ratatosk/layer1'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'
import {
  administratorAddress,
  type BridgeState,
  readBridge,
  referenceScriptsOf,
  type Settlement,
} from '@ratatosk/protocol'
import { Mutex } from 'async-mutex'
import { Batches, buildPayout, buildTidying, lackOfFees, type PayoutMeans } from './build-payout.js'
import { type Owed, openOwed } from './owed.js'
import { afterInFlight } from './treasury.js'
import type { Paid, PayOptions, SettlementStatus, SettlerOptions, SettlerStatus } from './types.js'

/** Milliseconds until it is tried again to find out what is left of a settlement. */
const retryAfterMs = 30_000
/** Milliseconds for which the reference scripts are not read again. */
const scriptsForMs = 300_000

/** How a settler works: its options with their defaults. */
export type PayerOptions = SettlerOptions &
  Required<Pick<SettlerOptions, 'validityMs' | 'batch' | 'maxInFlight' | 'tidyFrom' | 'autoPay'>> & {
    readonly log: Log
  }

/** Pays what layer 1 owes. Its caller sees to it that no other process does so with the same wallet. */
export interface Payer {
  /** Pays what can be paid on its own, if layer 1 has a block that it has not seen. */
  tick(signal: AbortSignal): Promise<void>
  pay(options: PayOptions, signal: AbortSignal): Promise<Paid>
  status(): Omit<SettlerStatus, 'active' | 'fault'>
}

interface InFlight {
  readonly built: BuiltTransaction
  /** `outputReferenceKey`s of the withdrawals. */
  readonly paid: readonly string[]
  isIncluded: boolean
  /** Whether its inputs were there when the bridge was last read. */
  isApplied: boolean
}

/** Creates a payer, which keeps only what it can read again: a new one goes on where another has stopped. */
export function createPayer(options: PayerOptions, slotLength: number): Payer {
  return new BridgePayer(options, slotLength)
}

class BridgePayer implements Payer {
  readonly #options: PayerOptions
  readonly #slotLength: number
  readonly #outbox
  readonly #funds
  readonly #batches
  readonly #turns = new Mutex()
  readonly #owed = new BytesMap<Owed>()
  /** Settlements of which it is not known what is left. */
  readonly #unknown = new BytesMap<{
    readonly outref: string
    readonly until: number
    readonly reason: string
  }>()
  /** Why settlements were not paid, as far as it was reported: without numbers, which vary. */
  readonly #reported = new BytesMap<Set<string>>()
  #inFlight: readonly InFlight[] = []
  #settlements: readonly SettlementStatus[] = []
  #paid = 0
  #seen = ''
  /** Layer 1 has refused a transaction in this slot: a rival's waits there. */
  #refusedAt = -1n
  /** Ada for fees is on its way: what waits for it is paid soon. */
  #isFilling = false
  #scripts: { readonly utxos: readonly Utxo[]; readonly until: number } | undefined

  constructor(options: PayerOptions, slotLength: number) {
    this.#options = options
    this.#slotLength = slotLength
    const { layer1, wallet, fundedBy, validityMs, batch, log } = options
    const resendEverySlots = Math.max(1, Math.ceil(validityMs / 4 / slotLength))
    this.#outbox = createOutbox({ layer1, wallet, resendEverySlots, log })
    this.#funds = openFunds({ layer1, wallet, fundedBy, resendEverySlots, log })
    this.#batches = new Batches(batch)
  }

  tick(signal: AbortSignal): Promise<void> {
    return this.#turns.runExclusive(async () => {
      const { slot, hash } = await this.#options.layer1.tip({ signal })
      if (hash === this.#seen) return
      await this.#round(slot, this.#options.autoPay ? {} : { limit: 0 }, signal)
      this.#seen = hash
    })
  }

  pay(options: PayOptions, signal: AbortSignal): Promise<Paid> {
    return this.#turns.runExclusive(async () => {
      const { slot } = await this.#options.layer1.tip({ signal })
      return this.#round(slot, options, signal)
    })
  }

  status(): Omit<SettlerStatus, 'active' | 'fault'> {
    return {
      wallet: this.#options.wallet.address,
      settlements: this.#settlements,
      inFlight: this.#inFlight.length,
      paid: this.#paid,
      setAside: this.#batches.aside(),
    }
  }

  /** @param slot of a tip that was just read */
  async #round(slot: bigint, options: PayOptions, signal: AbortSignal): Promise<Paid> {
    const { layer1, contracts } = this.#options
    await this.#follow(slot, signal)
    const { place } = contracts.bridge
    const { utxos } = await layer1.utxosAsOf(place.addressText, { signal })
    const { applied } = afterInFlight(utxos, this.#built(), place.address)
    for (const each of this.#inFlight) each.isApplied = applied.has(each.built)
    // The treasury as read has the effect of those that are included.
    this.#inFlight = this.#inFlight.filter(({ isIncluded, isApplied }) => !isIncluded || isApplied)
    await this.#releaseUndone(signal)
    const present = (): BridgeState =>
      readBridge(contracts, afterInFlight(utxos, this.#built(), place.address).utxos)
    const before = present()
    const { settlements, deposits } = before
    this.#forgetOthers(settlements)
    const isDue = options.limit !== 0 && (settlements.length > 0 || deposits.length >= this.#options.tidyFrom)
    const waits = new BytesMap<string>()
    const paid = isDue
      ? await this.#payAll({ slot, before, present, waits }, options, signal)
      : { txHashes: [], paid: 0 }
    this.#warn(waits)
    this.#settlements = await this.#statusOf(isDue ? present() : before, waits, signal)
    const remaining = this.#settlements
      .filter(
        ({ headerHash }) => options.headerHash === undefined || headerHash === toHex(options.headerHash),
      )
      .reduce((sum, each) => sum + (each.remaining ?? 0), 0)
    return { ...paid, remaining }
  }

  /** Frees the inputs of what was included, and is not any more: a roll-back has undone it. */
  async #releaseUndone(signal: AbortSignal): Promise<void> {
    const { layer1, wallet } = this.#options
    const followed = new BytesSet(this.#inFlight.map(({ built }) => built.id))
    for (const id of wallet.inFlight()) {
      if (followed.has(id)) continue
      const { kind } = await layer1.status(id, { signal })
      if (kind !== 'confirmed') wallet.release(id)
    }
  }

  #built = (): BuiltTransaction[] => this.#inFlight.map(({ built }) => built)

  async #follow(slot: bigint, signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const alive: InFlight[] = []
    for (const each of this.#inFlight) {
      const state = await this.#outbox.follow(each.built, slot, { signal })
      // Its inputs are gone, or a roll-back has undone its parents.
      const isLost = state === 'pending' && !each.isApplied
      if (isLost) this.#outbox.drop(each.built.id)
      if (isLost || state === 'dead') {
        log.warn({ transaction: toHex(each.built.id) }, 'Layer 1 cannot include a payout: it is built again')
        continue
      }
      if (state === 'included' && !each.isIncluded) this.#paid += each.paid.length
      each.isIncluded ||= state === 'included'
      alive.push(each)
    }
    this.#inFlight = alive
  }

  /** Pays settlements in turn, each by a payout, until nothing is left or enough is in flight. */
  async #payAll(
    { slot, before, present, waits }: Round,
    { headerHash, limit = Number.POSITIVE_INFINITY }: PayOptions,
    signal: AbortSignal,
  ): Promise<Omit<Paid, 'remaining'>> {
    const txHashes: string[] = []
    let paid = 0
    const means = await this.#means(slot, signal)
    let state = before
    const tidied = await buildTidying(means, state, this.#options.tidyFrom)
    if (tidied && this.#mayBuild(slot)) {
      await this.#send(tidied, [], slot, signal)
      state = present()
    }
    const done = new BytesMap<true>()
    for (let isBusy = true; isBusy; ) {
      isBusy = false
      for (const { headerHash: block } of state.settlements) {
        if (done.has(block) || (headerHash !== undefined && !equalBytes(block, headerHash))) continue
        if (paid >= limit || !this.#mayBuild(slot)) return { txHashes, paid }
        const settlement = state.settlements.find((each) => equalBytes(each.headerHash, block))
        const owed = settlement && (await this.#owedBy(settlement, signal))
        const payout =
          settlement === undefined || owed === undefined
            ? { reason: undefined }
            : await buildPayout(means, settlement, owed, state, limit - paid)
        if ('reason' in payout) {
          done.set(block, true)
          if (payout.reason !== undefined) waits.set(block, payout.reason)
          continue
        }
        isBusy = true
        if (!(await this.#send(payout.built, payout.paid, slot, signal))) return { txHashes, paid }
        state = present()
        if (payout.paid.length > 0) txHashes.push(toHex(payout.built.id))
        paid += payout.paid.length
      }
    }
    return { txHashes, paid }
  }

  #mayBuild(slot: bigint): boolean {
    return slot > this.#refusedAt && this.#inFlight.length < this.#options.maxInFlight
  }

  /** @returns false: layer 1 did not take it, and the next round begins with what layer 1 then shows */
  async #send(
    built: BuiltTransaction,
    paid: readonly string[],
    slot: bigint,
    signal: AbortSignal,
  ): Promise<boolean> {
    const sending = await this.#outbox.send(built, slot, { signal })
    if (sending !== 'sent') this.#refusedAt = slot
    if (sending === 'refused') return false
    this.#inFlight = [...this.#inFlight, { built, paid, isIncluded: false, isApplied: true }]
    const { length } = paid
    const fields = { transaction: toHex(built.id), paid: length, fee: Number(built.fee) }
    this.#options.log.info(fields, length > 0 ? 'Sent a payout' : 'Sent what merges outputs of the treasury')
    return sending === 'sent'
  }

  async #means(slot: bigint, signal: AbortSignal): Promise<PayoutMeans> {
    const { layer1, contracts, wallet, validityMs } = this.#options
    const now = await layer1.currentSlot({ signal })
    const validUntil = (now > slot ? now : slot) + BigInt(Math.ceil(validityMs / this.#slotLength))
    this.#isFilling = await this.#funds.keep(slot, validUntil, signal)
    if (this.#scripts === undefined || performance.now() >= this.#scripts.until) {
      const published = await layer1.utxosAt(administratorAddress(contracts), { signal })
      const utxos = referenceScriptsOf(contracts, published)
      this.#scripts = { utxos, until: performance.now() + scriptsForMs }
    }
    const referenceScripts = this.#scripts.utxos
    return { contracts, layer1, wallet, batches: this.#batches, referenceScripts, validUntil, signal }
  }

  /** The map of a settlement; undefined if it is not known what is left. */
  async #owedBy(settlement: Settlement, signal: AbortSignal): Promise<Owed | undefined> {
    const { headerHash, utxo } = settlement
    const outref = outputReferenceKey(utxo.reference)
    const unknown = this.#unknown.get(headerHash)
    if (unknown?.outref === outref && performance.now() < unknown.until) return undefined
    const owed = this.#owed.get(headerHash) ?? (await openOwed(this.#options, headerHash))
    const reason = typeof owed === 'string' ? owed : await owed.goTo(settlement, signal)
    if (typeof owed !== 'string') this.#owed.set(headerHash, owed)
    if (typeof owed !== 'string' && reason === undefined) {
      this.#unknown.delete(headerHash)
      return owed
    }
    if (unknown === undefined)
      this.#options.log.warn(
        { headerHash: toHex(headerHash), reason },
        'It is unknown what a settlement owes',
      )
    this.#unknown.set(headerHash, { outref, until: performance.now() + retryAfterMs, reason: reason ?? '' })
    return undefined
  }

  #warn(waits: BytesMap<string>): void {
    for (const [headerHash, reason] of waits) {
      const reported = this.#reported.get(headerHash) ?? new Set()
      this.#reported.set(headerHash, reported)
      const kind = reason.replaceAll(/\d+/g, '')
      if (reported.has(kind) || (this.#isFilling && reason.startsWith(lackOfFees))) continue
      reported.add(kind)
      this.#options.log.warn({ headerHash: toHex(headerHash), reason }, 'A settlement waits: it is not paid')
    }
  }

  #forgetOthers(settlements: readonly Settlement[]): void {
    const isThere = (hash: Uint8Array) => settlements.some(({ headerHash }) => equalBytes(headerHash, hash))
    for (const map of [this.#owed, this.#unknown, this.#reported])
      for (const hash of [...map.keys()]) if (!isThere(hash)) map.delete(hash)
  }

  async #statusOf(
    { settlements }: BridgeState,
    waits: BytesMap<string>,
    signal: AbortSignal,
  ): Promise<readonly SettlementStatus[]> {
    const statuses: SettlementStatus[] = []
    for (const settlement of settlements) {
      const { headerHash, utxo } = settlement
      const owed = await this.#owedBy(settlement, signal)
      const waitsFor = waits.get(headerHash) ?? this.#unknown.get(headerHash)?.reason
      statuses.push({
        headerHash: toHex(headerHash),
        outref: outputReferenceKey(utxo.reference),
        remaining: owed?.size ?? null,
        ...(waitsFor !== undefined && { waitsFor }),
      })
    }
    return statuses
  }
}

interface Round {
  readonly slot: bigint
  /** The bridge as it was read, after everything in flight then. */
  readonly before: BridgeState
  /** The bridge after everything in flight. */
  present(): BridgeState
  /** Why settlements wait, by header hash. */
  readonly waits: BytesMap<string>
}

/** Lovelace. A wallet with less is funded, when something is owed. */
const minimumFunds = 20_000_000n
/** Lovelace of each output that it then gets: payouts side by side take one each. */
const piece = 15_000_000n
const pieces = 4

/** Options of {@link openFunds}. */
interface FundsOptions {
  readonly layer1: Layer1
  readonly wallet: Wallet
  readonly fundedBy: Wallet | undefined
  readonly resendEverySlots: number
  readonly log: Log
}

/** The ada that pays the fees of payouts. */
interface Funds {
  /** Sends ada to the wallet if it has too little. @returns whether some is on its way */
  keep(slot: bigint, validUntil: bigint, signal: AbortSignal): Promise<boolean>
}

/** Opens the funds of a wallet, which another one fills. */
function openFunds({ layer1, wallet, fundedBy, resendEverySlots, log }: FundsOptions): Funds {
  const outbox: Outbox | undefined =
    fundedBy && createOutbox({ layer1, wallet: fundedBy, resendEverySlots, log })
  let sent: BuiltTransaction | undefined
  /** Why it could not be filled, without numbers, which vary. */
  let reported = ''

  async function fill(slot: bigint, validUntil: bigint, signal: AbortSignal): Promise<void> {
    if (fundedBy === undefined || outbox === undefined) return
    if (sent !== undefined && (await outbox.follow(sent, slot, { signal })) === 'pending') return
    sent = undefined
    const outputs = Array.from({ length: pieces }, () => ({ address: wallet.address, lovelace: piece }))
    try {
      const built = await fundedBy.build({ outputs, validUntil }, { signal })
      if ((await outbox.send(built, slot, { signal })) === 'refused') return
      sent = built
      reported = ''
      log.info({ transaction: toHex(built.id) }, 'Sent ada to the wallet that pays for payouts')
    } catch (error) {
      if (!isWalletError(error)) throw error
      const kind = error.message.replaceAll(/\d+/g, '')
      if (kind !== reported)
        log.warn({ reason: error.message }, 'The wallet that pays for payouts cannot be funded')
      reported = kind
    }
  }

  return {
    async keep(slot, validUntil, signal) {
      if ((await wallet.spendable({ paidByAda: true }, { signal })) >= minimumFunds) return false
      await fill(slot, validUntil, signal)
      return sent !== undefined
    },
  }
}
