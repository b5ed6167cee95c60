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

/**
 * For how many slots after the newest block the time of a slot is known: 3 · k / f of mainnet. Layer 1 may
 * change the length of slots in a hard fork after them, so it runs no script on a later bound.
 */
export const safeZone = 129_600n

/** The last slot whose time is known in a slot: {@link RuleContext.forecastHorizon}. */
export function forecastHorizon(slot: bigint): bigint {
  return slot + safeZone
}
