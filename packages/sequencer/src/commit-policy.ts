import { type SlotConfig, slotToTime, timeToSlot } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { SequencerError } from './errors.js'
import { createSpendingMeter, type SpendingMeter } from './spending.js'

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
