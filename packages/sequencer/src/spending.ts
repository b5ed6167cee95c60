import { decodeTransaction } from '@ratatosk/ledger'
import type { Block, Layer1Transaction, Store } from '@ratatosk/store'

const hourMs = 3_600_000

/** Share of the budget from which spending is reported and commits slow down. */
const warningShare = 0.8

/** Lovelace per block unless measured: the fees of its commit and merge, with scripts by reference. */
export const typicalBlockCost = 550_000n

/** Lovelace that a block's element locks until the block is merged. */
const typicalBlockDeposit = 3_000_000n

/** The lovelace that commits and merges have cost in the last hour, against a budget. */
export interface SpendingMeter {
  /** Adds a fee. @param at POSIX milliseconds */
  spend(lovelace: bigint, at: number): void
  /** Lovelace spent in the hour before a moment. */
  spent(now: number): bigint
  /** Whether 80 % of the budget are spent. */
  isNearLimit(now: number): boolean
  /**
   * Milliseconds until a block may be committed. Below 80 % of the budget blocks follow each other freely,
   * above it at the rate that the budget allows, and never beyond it.
   */
  delay(now: number, committedAt: number): number
}

/** @param budget lovelace per hour; undefined for no limit */
export function createSpendingMeter(budget: bigint | undefined): SpendingMeter {
  /** The oldest first. */
  let entries: { readonly lovelace: bigint; readonly at: number }[] = []
  /** The possible cost of the next block: the most that one has cost so far. */
  let blockCost = typicalBlockCost

  const meter: SpendingMeter = {
    spend(lovelace, at) {
      entries.push({ lovelace, at })
      if (at < (entries.at(-2)?.at ?? at)) entries.sort((a, b) => a.at - b.at)
      // A merge costs about as much as a commit.
      if (2n * lovelace > blockCost) blockCost = 2n * lovelace
    },

    spent(now) {
      entries = entries.filter(({ at }) => at > now - hourMs)
      return entries.reduce((sum, { lovelace }) => sum + lovelace, 0n)
    },

    isNearLimit: (now) => budget !== undefined && Number(meter.spent(now)) >= warningShare * Number(budget),

    delay(now, committedAt) {
      if (budget === undefined) return 0
      const spent = meter.spent(now)
      // With a budget below the cost of a block, one block an hour is committed.
      if (spent > 0n && spent + blockCost > budget) {
        // Until enough of the oldest spending is an hour old.
        let freed = 0n
        for (const { lovelace, at } of entries) {
          freed += lovelace
          if (spent - freed + blockCost <= budget) return Math.max(at + hourMs - now, 1)
        }
        return hourMs
      }
      if (!meter.isNearLimit(now)) return 0
      const interval = Math.ceil((hourMs * Number(blockCost)) / Number(budget))
      return Math.max(committedAt + interval - now, 0)
    },
  }
  return meter
}

/** Adds the costs of the last hour, so that a restart or another process continues the same budget. */
export async function loadSpending(
  meter: SpendingMeter,
  { blocks }: Pick<Store, 'blocks'>,
  now: number,
): Promise<void> {
  const since = now - hourMs
  // Other operators pay for theirs.
  const add = (transaction: Layer1Transaction | undefined, at: Date | undefined): boolean => {
    if (at === undefined || at.getTime() <= since) return false
    if (transaction !== undefined) meter.spend(decodeTransaction(transaction.cbor).body.fee, at.getTime())
    return true
  }
  await walkDown(blocks, await blocks.newest(), ({ commitTransaction, builtAt }) =>
    add(commitTransaction, builtAt),
  )
  await walkDown(blocks, await blocks.confirmed(), ({ mergeTransaction, mergedAt }) =>
    add(mergeTransaction, mergedAt),
  )
}

/** Visits blocks from one down to the first on which `visit` returns false. */
async function walkDown(
  blocks: Store['blocks'],
  from: Block | undefined,
  visit: (block: Block) => boolean,
): Promise<void> {
  const pageSize = 100n
  for (let to = from?.height ?? 0n; to > 0n; to -= pageSize) {
    const page = await blocks.range(to < pageSize ? 1n : to - pageSize + 1n, to)
    for (const block of page.reverse()) if (!visit(block)) return
  }
}

/** The settings that determine the costs of a deployment. */
export interface CostSettings {
  /** Milliseconds between two commits. */
  readonly commitEveryMs: number
  /** Milliseconds from a block's end until its merge. */
  readonly maturityWindowMs: number
  /** Lovelace per hour; undefined for no limit. */
  readonly hourlyBudget?: bigint
}

/** The cost of a deployment that always has transactions to commit. */
export interface DailyCost {
  /** Blocks per day. */
  readonly blocks: number
  /** Lovelace per day: the fees of commits and merges. */
  readonly fees: bigint
  /** Lovelace locked in the state queue at any time; returned by merges. */
  readonly locked: bigint
  /** Whether the budget, not the commit interval, limits the number of blocks. */
  readonly isLimitedByBudget: boolean
}

/**
 * Estimates what a deployment spends a day on layer 1 while transactions never stop, with typical fees. Full
 * blocks, which follow each other at once, are not counted.
 *
 * @example
 * const { fees, locked } = estimateDailyCost({ commitEveryMs: 300_000, maturityWindowMs: 604_800_000 })
 * console.log(`${Number(fees) / 1e6} ada a day, ${Number(locked) / 1e6} ada locked`)
 */
export function estimateDailyCost({
  commitEveryMs,
  maturityWindowMs,
  hourlyBudget,
}: CostSettings): DailyCost {
  const byInterval = Math.ceil((24 * hourMs) / Math.max(commitEveryMs, 1))
  const byBudget = hourlyBudget === undefined ? byInterval : Number((24n * hourlyBudget) / typicalBlockCost)
  const blocks = Math.min(byInterval, byBudget)
  const unmerged = Math.ceil((blocks * maturityWindowMs) / (24 * hourMs))
  return {
    blocks,
    fees: BigInt(blocks) * typicalBlockCost,
    locked: BigInt(unmerged) * typicalBlockDeposit,
    isLimitedByBudget: byBudget < byInterval,
  }
}

/**
 * Defaults of commit interval and budget: seconds on a devnet, where ada is free, minutes on a public
 * network.
 */
export const commitDefaults = {
  /** Shorter than a slot of layer 1: one commitment in each slot, at its start. */
  devnet: { commitEveryMs: 750, hourlyBudget: undefined },
  /** 12 blocks an hour for about 6.6 ada, and room for full blocks. */
  public: { commitEveryMs: 300_000, hourlyBudget: 20_000_000n },
} as const
