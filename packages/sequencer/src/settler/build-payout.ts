import { leastMerged } from '@ratatosk/contracts'
import { decodeOutputReference, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import {
  addValue,
  type BuiltTransaction,
  isWalletError,
  type Quantities,
  type WalletError,
} from '@ratatosk/ledger/builder'
import { type BridgeState, payWithdrawals, type Settlement } from '@ratatosk/protocol'
import type { Batches } from './batches.js'
import { build, type PayoutMeans } from './means.js'
import type { Owed, OwedEntry } from './owed.js'
import { buildMerging } from './tidy.js'
import { amountOf, covers, sourcesFor, totalOf, treasuryOf } from './treasury.js'

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
