import { type SlotConfig, timeToSlot, type ValidityInterval } from '@ratatosk/ledger'
import type { Header } from './header.js'

/** The slots of a block, both included: those that `[startTime, endTime)` touches. */
export interface BlockInterval {
  readonly first: bigint
  readonly last: bigint
}

/**
 * How a transaction's validity interval lies to a block: `within` if a block may hold it; `expired` if it
 * ends before the block begins, so that no later block may hold it either; `not begun` if it begins after
 * the block; `empty` if it has no slot at all.
 */
export type IntervalFit = 'within' | 'expired' | 'not begun' | 'empty'

/** The slots of a block. Layer-2 slots are those of `slots`. */
export function intervalOf(
  { startTime, endTime }: Pick<Header, 'startTime' | 'endTime'>,
  slots: SlotConfig,
): BlockInterval {
  return { first: timeToSlot(slots, startTime), last: timeToSlot(slots, endTime - 1n) }
}

/**
 * Whether a validity interval meets a block. In milliseconds: the time of `invalidBefore` is before the
 * block's end, and the time of `invalidHereafter` after its start.
 */
export function fitOf(
  { invalidBefore, invalidHereafter }: ValidityInterval,
  { first, last }: BlockInterval,
): IntervalFit {
  if (invalidHereafter !== undefined) {
    if (invalidHereafter <= (invalidBefore ?? 0n)) return 'empty'
    if (invalidHereafter <= first) return 'expired'
  }
  return invalidBefore !== undefined && invalidBefore > last ? 'not begun' : 'within'
}
