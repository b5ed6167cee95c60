import { BytesMap } from '@ratatosk/cbor'
import { decodeTransaction, type SlotConfig, slotToTime, timeToSlot } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { Block, Layer1Transaction, Store } from '@ratatosk/store'
import type { SequencerError } from './errors.js'

interface CommitPolicyOptions {
  readonly commitEveryMs: number
  readonly commitAtTransactions: number
  readonly commitAtFees: bigint | undefined
  readonly hourlyBudget: bigint | undefined
  readonly slots: SlotConfig
  readonly log: Log
}

/** The transactions that wait in the mempool. Both count up to a limit. */
interface WaitingTransactions {
  count(limit: number): Promise<number>
  /** Their layer-2 fees in lovelace. */
  fees(limit: bigint): Promise<bigint>
}

/** Decides when scheduled work commits. Times are POSIX milliseconds of a clock that never goes back. */
export interface CommitPolicy {
  readonly meter: SpendingMeter
  /** Whether a block is due: by age, size or fees, a slot after the last one, and within the budget. */
  isDue(now: number, waiting: WaitingTransactions): Promise<boolean>
  /** Milliseconds until a block is due by age, in another slot than the one before; 0 if it is. */
  dueIn(now: number): number
  /** Records a commit. `isFull`: the next block may follow at once. */
  committed(begun: number, ended: number, fee: bigint, isFull: boolean): void
  /** Records a merge. Merges are never delayed. */
  merged(now: number, fee: bigint): void
}

/** A commit is due after this multiple of the last one's duration: large blocks cost less than small ones. */
const timesTaken = 2
/** But after so many times the interval at most. */
const maxIntervals = 2

export function createCommitPolicy({
  commitEveryMs,
  commitAtTransactions,
  commitAtFees,
  hourlyBudget,
  slots,
  log,
}: CommitPolicyOptions): CommitPolicy {
  const meter = createSpendingMeter(hourlyBudget)
  /** When the latest commit began whose block was not full, and how long the next waits from then on. */
  let intervalStart = -Infinity
  let interval = commitEveryMs
  let latestAt = -Infinity
  /** End of the slot of the latest commit: more blocks than slots would end ever further ahead. */
  let slotEnd = -Infinity
  let isWarned = false

  function spend(now: number, fee: bigint): void {
    meter.spend(fee, now)
    const isNearLimit = meter.isNearLimit(now)
    if (isNearLimit && !isWarned)
      log.warn(
        { spentLovelace: String(meter.spent(now)), hourlyBudgetLovelace: String(hourlyBudget) },
        'Spending on layer 1 has reached 80 % of the hourly budget: commits slow down',
      )
    isWarned = isNearLimit
  }

  return {
    meter,
    async isDue(now, waiting) {
      if (now < slotEnd || meter.delay(now, latestAt) > 0) return false
      if (now - intervalStart >= interval) return true
      if ((await waiting.count(commitAtTransactions)) >= commitAtTransactions) return true
      return commitAtFees !== undefined && (await waiting.fees(commitAtFees)) >= commitAtFees
    },
    dueIn: (now) => Math.max(0, intervalStart + interval - now, slotEnd - now),
    committed(begun, ended, fee, isFull) {
      latestAt = begun
      slotEnd = Number(slotToTime(slots, timeToSlot(slots, BigInt(Math.floor(begun))) + 1n))
      if (!isFull) intervalStart = begun
      interval = Math.min(Math.max(commitEveryMs, timesTaken * (ended - begun)), maxIntervals * commitEveryMs)
      spend(begun, fee)
    },
    merged: spend,
  }
}

/** Milliseconds before the log says why a block waits: longer than the pause at the end of a turn. */
const reportedAfterMs = 60_000

/** Logs why a block that is due is not committed. Times are milliseconds of one clock. */
interface WaitingBlocks {
  /** Records that a block waits: one line for each reason, once the block has waited for a minute. */
  waits(now: number, reason: SequencerError): void
  /** Records that no block waits any longer. */
  ended(): void
}

export function createWaitingBlocks(log: Log): WaitingBlocks {
  let since: number | undefined
  let reported: string | undefined

  return {
    waits(now, { code, message }) {
      since ??= now
      if (now - since < reportedAfterMs || code === reported) return
      reported = code
      log.info({ code }, `A block has waited for ${Math.round((now - since) / 1000)} s: ${message}`)
    },
    ended() {
      since = undefined
      reported = undefined
    },
  }
}

const hourMs = 3_600_000

/** Share of the budget from which spending is reported and commits slow down. */
const warningShare = 0.8

/** Lovelace per block unless measured: the fees of its commit and merge, with scripts by reference. */
export const typicalBlockCost = 550_000n

/** Lovelace that a block's element locks until the block is merged. */
const typicalBlockDeposit = 3_000_000n

/** The lovelace that commits and merges have cost in the last hour, against a budget. */
interface SpendingMeter {
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
function createSpendingMeter(budget: bigint | undefined): SpendingMeter {
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

interface WatchOptions {
  /** How long layer 1 may take to include a commit, in milliseconds. */
  readonly blockValidityMs: number
  readonly log: Log
  /** Milliseconds by a clock that never goes back. */
  readonly now: () => number
}

/** An unconfirmed transaction of the operator. */
interface Pending {
  readonly id: Uint8Array
  readonly kind: 'commit' | 'merge'
}

/** Notices that layer 1 includes no commit: one stays unconfirmed beyond its validity, or expires. */
export class CommitWatch {
  readonly #options: WatchOptions
  /** When each unconfirmed commit was first seen, by its id. */
  #seen = new BytesMap<number>()
  /** When the first of the commits was seen that expired since the last inclusion. */
  #missedSince: number | undefined
  /** When a commit was last unconfirmed. */
  #pendingAt = Number.NEGATIVE_INFINITY
  #reported = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Milliseconds for which layer 1 has not included a waiting commit; undefined while it is in time. */
  get overdueMs(): number | undefined {
    const { now, blockValidityMs } = this.#options
    if (now() - this.#pendingAt > blockValidityMs) return undefined
    const since = Math.min(this.#missedSince ?? Number.POSITIVE_INFINITY, ...this.#seen.values())
    const ms = now() - since
    return ms > blockValidityMs ? ms : undefined
  }

  /** Whether commits have expired, and none was included since. */
  get hasMissed(): boolean {
    return this.#missedSince !== undefined
  }

  /** Takes note of what is unconfirmed. Logs once that layer 1 is late. */
  see(pending: readonly Pending[]): void {
    const { log, now } = this.#options
    const commits = pending.filter(({ kind }) => kind === 'commit')
    if (commits.length > 0) this.#pendingAt = now()
    this.#seen = new BytesMap(commits.map(({ id }) => [id, this.#seen.get(id) ?? now()]))
    const { overdueMs } = this
    if (overdueMs !== undefined && !this.#reported) log.warn({}, overdueLine(overdueMs))
    this.#reported = overdueMs !== undefined || (this.#reported && this.hasMissed)
  }

  /** A commit can no longer be included. */
  missed(id: Uint8Array): void {
    this.#pendingAt = this.#options.now()
    this.#missedSince ??= this.#seen.get(id) ?? this.#pendingAt
  }

  /** Layer 1 has included a commit, or nothing is left to commit. */
  arrived(): void {
    this.#missedSince = undefined
  }
}

/** The log line while layer 1 includes no commit. @param ms for how long */
export function overdueLine(ms: number): string {
  return (
    `Layer 1 has included no commit for ${Math.round(ms / 1000)} s, longer than one is valid: check the ` +
    "operator's wallet, layer 1's node and both clocks"
  )
}
