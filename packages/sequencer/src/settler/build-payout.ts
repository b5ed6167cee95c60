import type { Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import {
  addValue,
  type BuiltTransaction,
  isWalletError,
  type Quantities,
  type TransactionDraft,
  type WalletError,
} from '@ratatosk/ledger/builder'
import { type BridgeState, payWithdrawals, type Settlement } from '@ratatosk/protocol'
import type { Batches } from './batches.js'
import type { Owed, OwedEntry } from './owed.js'
import { amountOf, covers, sourcesFor, totalOf, treasuryOf } from './treasury.js'
import type { BridgeContracts } from './types.js'

/** Withdrawals that the treasury does not cover, after which a search for others ends. */
const maxUncovered = 1000

/** The means to build payouts. */
export interface PayoutMeans {
  readonly contracts: BridgeContracts
  readonly wallet: Wallet
  readonly batches: Batches
  readonly referenceScripts: readonly Utxo[]
  readonly validUntil: bigint
  readonly signal: AbortSignal
}

/** A payout, or why there is none: undefined if nothing is left that can be paid. */
export type PayoutOrReason =
  | { readonly built: BuiltTransaction; readonly paid: number }
  | { readonly reason: string | undefined }

/** Builds a payout of as many withdrawals as fit, at most `most`. The map is the settlement's. */
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
    const { picked, needed, isShort } = pick(
      owed,
      batches,
      treasury,
      Math.min(most, batches.sizeOf(headerHash)),
    )
    const sources = picked.length > 0 ? sourcesFor(treasury, needed) : undefined
    if (sources === undefined)
      return { reason: isShort ? 'money of the treasury that is older than this settlement' : undefined }
    const { entries, rootAfter } = owed.take(picked)
    try {
      const { contracts, wallet, referenceScripts } = means
      const draft = payWithdrawals(contracts, {
        settlement,
        entries,
        rootAfter,
        treasury: sources,
        payer: wallet.address,
        referenceScripts,
      })
      return { built: await build(means, draft), paid: picked.length }
    } catch (error) {
      await owed.goTo(settlement, signal)
      if (!isWalletError(error)) throw error
      if (error.code === 'WALLET_INSUFFICIENT_FUNDS') return { reason: lacking(error) }
      const [first] = picked
      if (picked.length > 1) batches.halve(headerHash, picked.length)
      else if (first) batches.setAside(headerHash, first.outref, error.message)
    }
  }
}

/** Builds a transaction of the settler's wallet. */
export function build(
  { wallet, validUntil, signal }: PayoutMeans,
  draft: TransactionDraft,
): Promise<BuiltTransaction> {
  return wallet.build({ validUntil, ...draft }, { signal })
}

/** Names what a wallet lacks. */
const lacking = ({ message }: WalletError): string => `ada for fees: ${message}`

interface Picked {
  readonly picked: readonly OwedEntry[]
  readonly needed: Quantities
  /** Whether the treasury does not cover one that was left out. */
  readonly isShort: boolean
}

function pick(owed: Owed, batches: Batches, treasury: readonly Utxo[], size: number): Picked {
  const held = totalOf(treasury.map(({ output }) => output.value))
  const picked: OwedEntry[] = []
  let needed: Quantities = new Map()
  let uncovered = 0
  for (const entry of owed.left()) {
    const { withdrawal, outref } = entry
    if (picked.length >= size || uncovered >= maxUncovered) break
    if (withdrawal === undefined || batches.isAside(outref)) continue
    const more = new Map(needed)
    addValue(more, amountOf(entry))
    if (covers(held, more)) {
      needed = more
      picked.push(entry)
    } else uncovered += 1
  }
  return { picked, needed, isShort: uncovered > 0 }
}
