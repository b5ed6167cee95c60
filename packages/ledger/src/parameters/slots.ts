import type { SlotConfig } from './types.js'

/** The POSIX time in milliseconds at which a slot begins. */
export function slotToTime(slots: SlotConfig, slot: bigint): bigint {
  return slots.zeroTime + (slot - slots.zeroSlot) * BigInt(slots.slotLength)
}

/**
 * The slot that a moment lies in.
 *
 * @param time POSIX milliseconds; a moment before `zeroTime` gives a slot before `zeroSlot`
 */
export function timeToSlot(slots: SlotConfig, time: bigint): bigint {
  const length = BigInt(slots.slotLength)
  const elapsed = time - slots.zeroTime
  const whole = elapsed / length
  return slots.zeroSlot + (elapsed < 0n && elapsed % length !== 0n ? whole - 1n : whole)
}
