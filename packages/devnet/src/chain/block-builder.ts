import type { ProtocolParameters } from '@ratatosk/ledger'
import type { Mempool } from './mempool.js'
import { createMempool } from './mempool.js'
import type { LedgerView, Rules } from './rules.js'
import type { ChainTransaction } from './types.js'

export interface BlockContents {
  readonly included: readonly ChainTransaction[]
  /** For a later block. */
  readonly waiting: readonly ChainTransaction[]
  /** No longer fit the chain: their interval has passed, or something that they spend is gone. */
  readonly dropped: readonly ChainTransaction[]
}

/** Judges waiting transactions again, in order, upon the chain as it is at a slot. */
export function sift(
  transactions: Iterable<ChainTransaction>,
  confirmed: LedgerView,
  rules: Rules,
  slot: bigint,
): { readonly kept: readonly ChainTransaction[]; readonly dropped: readonly ChainTransaction[] } {
  const view: Mempool = createMempool(confirmed, rules.parameters.keyDeposit)
  const dropped: ChainTransaction[] = []
  for (const transaction of transactions) {
    if (rules.judgeAgain(transaction.transaction, view, slot).length > 0) dropped.push(transaction)
    else view.add(transaction)
  }
  return { kept: view.transactions(), dropped }
}

/**
 * Chooses what goes into the next block: the oldest transactions, without gaps, so that a chain of them stays in order, up to
 * the block's size and execution units.
 */
export function fillBlock(
  transactions: Iterable<ChainTransaction>,
  confirmed: LedgerView,
  rules: Rules,
  slot: bigint,
  maxBlockSize: number,
): BlockContents {
  const { kept, dropped } = sift(transactions, confirmed, rules, slot)
  const count = fitting(kept, maxBlockSize, rules.parameters.maxBlockExecutionUnits)
  return { included: kept.slice(0, count), waiting: kept.slice(count), dropped }
}

function fitting(
  transactions: readonly ChainTransaction[],
  maxBlockSize: number,
  { memory, steps }: ProtocolParameters['maxBlockExecutionUnits'],
): number {
  let size = 0
  const used = { memory: 0n, steps: 0n }
  let count = 0
  for (const { transaction } of transactions) {
    size += transaction.bytes.length
    for (const { executionUnits } of transaction.witnesses.redeemers) {
      used.memory += executionUnits.memory
      used.steps += executionUnits.steps
    }
    if (size > maxBlockSize || used.memory > memory || used.steps > steps) break
    count++
  }
  return count
}
