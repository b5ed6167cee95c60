import type { SlotConfig } from './types.js'

/** Returns the start of a slot in POSIX milliseconds. */
export function slotToTime(slots: SlotConfig, slot: bigint): bigint {
  return slots.zeroTime + (slot - slots.zeroSlot) * BigInt(slots.slotLength)
}

/**
 * Returns the slot that contains a time.
 *
 * @param time POSIX milliseconds; a time before `zeroTime` yields a slot before `zeroSlot`
 */
export function timeToSlot(slots: SlotConfig, time: bigint): bigint {
  const length = BigInt(slots.slotLength)
  const elapsed = time - slots.zeroTime
  const whole = elapsed / length
  return slots.zeroSlot + (elapsed < 0n && elapsed % length !== 0n ? whole - 1n : whole)
}
