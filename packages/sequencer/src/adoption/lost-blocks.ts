import { slotToTime } from '@ratatosk/ledger'
import type { SequencerContext } from '../context.js'

/** Blocks that one query reads. */
const pageSize = 256n

/**
 * Whether an adopted block that layer 1 lacks can come back as it was: it is merged, or its commit, which
 * must be included by the end of the block, still can be.
 */
export async function canReturn(
  { store: { blocks }, slots }: SequencerContext,
  height: bigint,
  slot: bigint,
): Promise<boolean> {
  if (height <= ((await blocks.confirmed())?.height ?? 0n)) return true
  const block = await blocks.byHeight(height)
  return block !== undefined && slotToTime(slots, slot) < block.endTime
}

/** The height of the oldest adopted block in a range; undefined if there is none. */
export async function oldestAdopted(
  { store: { blocks } }: SequencerContext,
  from: bigint,
  to: bigint,
): Promise<bigint | undefined> {
  for (let start = from; start <= to; start += pageSize) {
    const page = await blocks.range(start, start + pageSize - 1n)
    const found = page.find(({ commitTransaction }) => commitTransaction === undefined)
    if (found !== undefined) return found.height
  }
  return undefined
}
