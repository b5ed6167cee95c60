import { answersPerHour } from '@ratatosk/protocol'
import type { Pace } from './layer1.js'

/** An operator whose only process answers late. */
export interface Outage {
  /** Slots for an answer, and how many of them pass before the first is sent. */
  readonly period: number
  readonly downFor: number
  /** Asked in one block, as layer 1 has room for. */
  readonly questions: number
}

/** How many questions stay without an answer, if half of each block of layer 1 has room for answers. */
export function unansweredAfter(
  { block, seen, slots }: Pace,
  { period, downFor, questions }: Outage,
): number {
  const perBlock = (Number(answersPerHour) * block * slots.slotLength) / 3_600_000
  let left = questions
  for (let slot = block; slot < period && left > 0; slot += block) if (slot > downFor + seen) left -= perBlock
  return Math.max(0, Math.ceil(left))
}
