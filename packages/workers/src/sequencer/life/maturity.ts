import { slotToTime } from '@ratatosk/ledger'
import type { Block } from '@ratatosk/store'
import type { Work } from './work.js'

/** Whether a block's window is over at a slot. */
export function isMature({ slots, contracts }: Work, { endTime }: Block, slot: bigint): boolean {
  return endTime + contracts.parameters.maturityWindow <= slotToTime(slots, slot)
}
