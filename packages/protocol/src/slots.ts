import { type SlotConfig, slotToTime, timeToSlot } from '@ratatosk/ledger'

/** The first slot that starts at or after a time. `time`: POSIX milliseconds. */
export function firstSlotFrom(slots: SlotConfig, time: bigint): bigint {
  const slot = timeToSlot(slots, time)
  return slotToTime(slots, slot) < time ? slot + 1n : slot
}
