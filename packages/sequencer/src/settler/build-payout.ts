import { BytesMap } from '@ratatosk/cbor'
import { leastMerged } from '@ratatosk/contracts'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import { decodeOutputReference, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  addValue,
  type BuiltTransaction,
  isWalletError,
  type Quantities,
  type TransactionDraft,
  type WalletError,
} from '@ratatosk/ledger/builder'
import {
  type BridgeState,
  payWithdrawals,
  type RootElement,
  readBridge,
  readRegistry,
  readStateQueue,
  type Settlement,
  type Tidying,
  tidyDeposits,
} from '@ratatosk/protocol'
import type { Owed, OwedEntry } from './owed.js'
import { amountOf, covers, sourcesFor, totalOf, treasuryOf } from './treasury.js'
import type { BridgeContracts } from './types.js'

/** The means to build payouts. */
export interface PayoutMeans {
  readonly contracts: BridgeContracts
  readonly layer1: Pick<Layer1, 'utxosByPolicy' | 'utxosByUnit'>
  readonly wallet: Wallet
  readonly batches: Batches
  readonly referenceScripts: readonly Utxo[]
  readonly validUntil: bigint
  readonly signal: AbortSignal
}

/** Builds a transaction of the settler's wallet. */
function build(
  { wallet, validUntil, signal }: PayoutMeans,
  draft: TransactionDraft,
): Promise<BuiltTransaction> {
  return wallet.build({ validUntil, ...draft }, { signal })
}

/** Withdrawals that the treasury does not cover, after which a search for others ends. */
const maxUncovered = 1000
/** More outputs of the treasury than one payout can take. */
const maxSources = 60

/**
 * A payout, or one that pays nothing and merges the money of the next; or why there is none: undefined if
 * nothing is left that can be paid.
 */
export type PayoutOrReason =
  /** `paid`: `outputReferenceKey`s of the withdrawals. */
  | { readonly built: BuiltTransaction; readonly paid: readonly string[] }
  | { readonly reason: string | undefined }

/**
 * Builds a payout of as many withdrawals as fit, at most `most`. If it needs more outputs of the treasury
 * than fit, it builds what merges them. The map is the settlement's.
 */
export async function buildPayout(
  means: PayoutMeans,
  settlement: Settlement,
  owed: Owed,
  state: BridgeState,
  most: number,
): Promise<PayoutOrReason> {
  const { batches, signal } = means
  const { headerHash } = settlement
  const treasury = treasuryOf(state, settlement)
  for (;;) {
    const size = Math.min(most, batches.sizeOf(headerHash))
    const picks = pick(owed, batches, treasury, size)
    const { picked, needed } = picks
    const sources = picked.length > 0 ? sourcesFor(treasury, needed) : undefined
    if (sources === undefined) return { reason: reasonOf(picks) }
    try {
      if (sources.length <= maxSources)
        return {
          built: await buildOf(means, settlement, owed, picked, sources),
          paid: picked.map(({ outref }) => outputReferenceKey(decodeOutputReference(outref))),
        }
    } catch (error) {
      await owed.goTo(settlement, signal)
      if (!isWalletError(error)) throw error
      if (error.code === 'WALLET_INSUFFICIENT_FUNDS') return { reason: lacking(error) }
      if (sources.length < leastMerged) {
        leaveOut(batches, headerHash, picked, error.message)
        continue
      }
    }
    const merged = await buildMerging(means, sources)
    if (merged !== undefined) return { built: merged, paid: [] }
    const tooMany = `it needs ${sources.length} outputs of the treasury, which cannot be merged`
    leaveOut(batches, headerHash, picked, tooMany)
  }
}

async function buildOf(
  means: PayoutMeans,
  settlement: Settlement,
  owed: Owed,
  picked: readonly OwedEntry[],
  treasury: readonly Utxo[],
): Promise<BuiltTransaction> {
  const { contracts, wallet, referenceScripts } = means
  const { entries, rootAfter } = owed.take(picked)
  const payer = wallet.address
  return build(
    means,
    payWithdrawals(contracts, { settlement, entries, rootAfter, treasury, payer, referenceScripts }),
  )
}

/** Tries fewer the next time, or leaves out the only one. */
function leaveOut(
  batches: Batches,
  headerHash: Uint8Array,
  picked: readonly OwedEntry[],
  reason: string,
): void {
  const [first] = picked
  if (picked.length > 1) batches.halve(headerHash, picked.length)
  else if (first) batches.setAside(headerHash, first.outref, reason)
}

function reasonOf({ isShort, aside }: Picked): string | undefined {
  if (isShort) return 'money of the treasury that is older than this settlement'
  return aside && `a payout that can be built: ${aside}`
}

/** The beginning of the reason of what waits for the wallet. */
export const lackOfFees = 'ada for fees'
/** Names what a wallet lacks. */
const lacking = ({ message }: WalletError): string => `${lackOfFees}: ${message}`

interface Picked {
  readonly picked: readonly OwedEntry[]
  readonly needed: Quantities
  /** Whether the treasury does not cover one that was left out. */
  readonly isShort: boolean
  /** Why one was set aside, if one was. */
  readonly aside: string | undefined
}

function pick(owed: Owed, batches: Batches, treasury: readonly Utxo[], size: number): Picked {
  const held = totalOf(treasury.map(({ output }) => output.value))
  const picked: OwedEntry[] = []
  let needed: Quantities = new Map()
  let uncovered = 0
  let aside: string | undefined
  for (const entry of owed.left()) {
    const { withdrawal, outref, fault } = entry
    if (picked.length >= size || uncovered >= maxUncovered) break
    if (withdrawal === undefined) continue
    const reason = fault ?? batches.reasonAside(outref)
    if (reason !== undefined) {
      aside ??= reason
      continue
    }
    const more = new Map(needed)
    addValue(more, amountOf(entry))
    if (covers(held, more)) {
      needed = more
      picked.push(entry)
    } else uncovered += 1
  }
  return { picked, needed, isShort: uncovered > 0, aside }
}

/** Milliseconds until a withdrawal that was set aside is tried again. */
const retryAfterMs = 600_000

/** How many withdrawals a payout of a settlement takes, and which are left out. */
export class Batches {
  readonly #most: number
  readonly #sizes = new BytesMap<number>()
  readonly #aside = new BytesMap<{ readonly until: number; readonly reason: string }>()

  constructor(most: number) {
    this.#most = most
  }

  /** How many a payout of a block's settlement takes at most. */
  sizeOf(headerHash: Uint8Array): number {
    return this.#sizes.get(headerHash) ?? this.#most
  }

  /** A payout with so many was too large. */
  halve(headerHash: Uint8Array, tried: number): void {
    this.#sizes.set(headerHash, Math.max(1, Math.floor(tried / 2)))
  }

  /** Leaves a withdrawal out for a while: no payout with it alone can be built. */
  setAside(headerHash: Uint8Array, outref: Uint8Array, reason: string): void {
    this.#aside.set(outref, { until: performance.now() + retryAfterMs, reason })
    // It may have been the reason why larger ones could not be built.
    this.#sizes.delete(headerHash)
  }

  /** Why a withdrawal is left out now; undefined if it is not. */
  reasonAside(outref: Uint8Array): string | undefined {
    const aside = this.#aside.get(outref)
    if (aside === undefined || performance.now() < aside.until) return aside?.reason
    this.#aside.delete(outref)
    return undefined
  }

  /** Those that are left out now. */
  aside(): { readonly outref: string; readonly reason: string }[] {
    return [...this.#aside].map(([outref, { reason }]) => ({
      outref: outputReferenceKey(decodeOutputReference(outref)),
      reason,
    }))
  }
}

/** Fewer deposits than so many are not worth a transaction. */
const least = 5
/** About as many outputs as one transaction can merge. */
const mostMerged = 60

/** Turns deposits that the confirmed state is newer than into reserves, if there are `from` of them. */
export async function buildTidying(
  means: PayoutMeans,
  { deposits }: BridgeState,
  from: number,
): Promise<BuiltTransaction | undefined> {
  if (deposits.length < from) return undefined
  const place = await placeOf(means)
  if (place === undefined) return undefined
  const { endTime } = place.root.datum.state
  const old = deposits.filter(({ time }) => time < endTime)
  if (old.length < from) return undefined
  return buildLargest(from, least, async (count) =>
    build(means, tidyDeposits(means.contracts, { ...place, deposits: old.slice(0, count) })),
  )
}

/** Makes one reserve of the first of some outputs of the treasury: as many as fit into a transaction. */
async function buildMerging(
  means: PayoutMeans,
  treasury: readonly Utxo[],
): Promise<BuiltTransaction | undefined> {
  const place = await placeOf(means)
  if (place === undefined) return undefined
  return buildLargest(Math.min(treasury.length, mostMerged), leastMerged, async (count) => {
    const { deposits, reserves } = readBridge(means.contracts, treasury.slice(0, count))
    return build(means, tidyDeposits(means.contracts, { ...place, deposits, reserves }))
  })
}

/** The largest that can be built, by halving; undefined if none can, or the wallet lacks ada. */
async function buildLargest(
  most: number,
  fewest: number,
  attempt: (count: number) => Promise<BuiltTransaction>,
): Promise<BuiltTransaction | undefined> {
  for (let count = most; count >= fewest; count = nextOf(count, fewest)) {
    try {
      return await attempt(count)
    } catch (error) {
      if (!isWalletError(error)) throw error
      if (error.code === 'WALLET_INSUFFICIENT_FUNDS') return undefined
    }
  }
  return undefined
}

const nextOf = (count: number, fewest: number): number =>
  count > fewest ? Math.max(fewest, Math.floor(count / 2)) : 0

/** The outputs that a tidying refers to; undefined while the queue has no single root. */
async function placeOf({
  contracts,
  layer1,
  signal,
  referenceScripts,
}: PayoutMeans): Promise<Omit<Tidying, 'deposits'> | undefined> {
  const { queue, registry: place } = contracts.scripts
  const root = confirmedRoot(readStateQueue(contracts, await layer1.utxosByPolicy(queue.policy, { signal })))
  const registry = readRegistry(contracts, await layer1.utxosByUnit(place.unit, { signal }))
  return root && registry && { root, registry, referenceScripts }
}

function confirmedRoot({ roots }: { readonly roots: readonly RootElement[] }): RootElement | undefined {
  const [root, ...others] = roots
  return others.length === 0 ? root : undefined
}
