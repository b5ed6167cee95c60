import { BytesMap, equalBytes, fromHex } from '@ratatosk/cbor'
import { decodeOutputReference, encodeOutputReference, outputReferenceKey } from '@ratatosk/ledger'
import { type BridgeState, payWithdrawals, readBridge, type Settlement } from '@ratatosk/protocol'
import { Mutex } from 'async-mutex'
import { type Owed, type OwedContext, type OwedEntry, openOwed, payoutsOf } from './owed.js'
import { amountOf, sourcesFor, totalOf, treasuryOf } from './treasury.js'
import type { OwedCount, OwedReader, PayoutDraft, PayoutOrder } from './types.js'

/** Blocks whose maps are kept. */
const kept = 8
/** Milliseconds for which a read of the bridge serves all who ask. */
const sharedForMs = 500

/** Reads which withdrawals are left, apart from what a settler does. It needs no lease and no wallet. */
export function createOwedReader(context: OwedContext): OwedReader {
  return new SharedOwedReader(context)
}

class SharedOwedReader implements OwedReader {
  readonly #context: OwedContext
  /** All calls use the same maps, which go from one root to another. */
  readonly #turns = new Mutex()
  readonly #maps = new BytesMap<Owed>()
  #read: { readonly at: number; readonly state: BridgeState } | undefined

  constructor(context: OwedContext) {
    this.#context = context
  }

  remaining(headerHash: Uint8Array, signal?: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    return this.#turns.runExclusive(async () => {
      const found = await this.#owedOf(await this.#state(signal), headerHash, signal)
      return found && new Set(Array.from(found.owed.left(), keyOf))
    })
  }

  count(headerHash: Uint8Array, signal?: AbortSignal): Promise<OwedCount | undefined> {
    return this.#turns.runExclusive(async () => {
      const found = await this.#owedOf(await this.#state(signal), headerHash, signal)
      if (found === undefined) return undefined
      const { settlement, owed } = found
      let lovelace = 0n
      for (const entry of owed.left()) lovelace += amountOf(entry).lovelace
      return { outref: outputReferenceKey(settlement.utxo.reference), remaining: owed.size, lovelace }
    })
  }

  payouts(headerHash: Uint8Array, signal?: AbortSignal): ReturnType<OwedReader['payouts']> {
    return payoutsOf(this.#context, headerHash, signal)
  }

  draft(order: PayoutOrder, signal?: AbortSignal): Promise<PayoutDraft> {
    const { payer, referenceScripts } = order
    return this.#turns.runExclusive(async () => {
      const state = await this.#state(signal)
      const found = await this.#find(state, order, signal)
      if (typeof found === 'string') return { kind: 'not owed', reason: found }
      const { settlement, owed, entries } = found
      const needed = totalOf(entries.map(amountOf))
      const treasury = sourcesFor(treasuryOf(state, settlement), needed)
      if (treasury === undefined)
        return { kind: 'not owed', reason: 'The treasury has too little that is older than the settlement' }
      const taken = owed.take(entries)
      try {
        const payout = { settlement, ...taken, treasury, payer, referenceScripts }
        return { kind: 'draft', draft: payWithdrawals(this.#context.contracts, payout) }
      } finally {
        await owed.goTo(settlement, signal)
      }
    })
  }

  async #state(signal: AbortSignal | undefined): Promise<BridgeState> {
    const { layer1, contracts } = this.#context
    const at = performance.now()
    if (this.#read !== undefined && at - this.#read.at < sharedForMs) return this.#read.state
    const { utxos } = await layer1.utxosAsOf(contracts.bridge.place.addressText, signal && { signal })
    this.#read = { at, state: readBridge(contracts, utxos) }
    return this.#read.state
  }

  /** The settlement of a block with its map; undefined without one, or if it is unknown what is left. */
  async #owedOf(
    { settlements }: BridgeState,
    headerHash: Uint8Array,
    signal: AbortSignal | undefined,
  ): Promise<Found | undefined> {
    const settlement = settlements.find((each) => equalBytes(each.headerHash, headerHash))
    if (settlement === undefined) return undefined
    const owed = this.#maps.get(headerHash) ?? (await openOwed(this.#context, headerHash))
    if (typeof owed === 'string') return undefined
    // The newest comes last.
    this.#maps.delete(headerHash)
    this.#maps.set(headerHash, owed)
    const [oldest] = this.#maps.keys()
    if (this.#maps.size > kept && oldest !== undefined) this.#maps.delete(oldest)
    return (await owed.goTo(settlement, signal)) === undefined ? { settlement, owed } : undefined
  }

  /** The withdrawals of an order in the settlement that owes all of them, or why they are not there. */
  async #find(
    state: BridgeState,
    { headerHash, outrefs }: PayoutOrder,
    signal: AbortSignal | undefined,
  ): Promise<Wanted | string> {
    const [first] = outrefs
    if (first === undefined) return 'No withdrawal was named'
    const found = await this.#owedOf(state, headerHash, signal)
    if (found?.owed.find(outrefOf(first)) === undefined) return `Nothing is owed for ${first}`
    const { owed } = found
    const entries: OwedEntry[] = []
    for (const key of new Set(outrefs)) {
      const entry = owed.find(outrefOf(key))
      if (entry === undefined) return `${key} is not owed, or not by the block of ${first}`
      if (entry.withdrawal === undefined) return `${key} does not say where it is paid: nobody can pay it`
      entries.push(entry)
    }
    return { ...found, entries }
  }
}

interface Found {
  readonly settlement: Settlement
  readonly owed: Owed
}

interface Wanted extends Found {
  readonly entries: readonly OwedEntry[]
}

const keyOf = ({ outref }: OwedEntry): string => outputReferenceKey(decodeOutputReference(outref))

function outrefOf(key: string): Uint8Array {
  const [transactionId = '', index] = key.split('#')
  return encodeOutputReference({ transactionId: fromHex(transactionId), index: Number(index) })
}
