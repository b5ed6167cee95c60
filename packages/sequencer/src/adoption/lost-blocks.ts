import { slotToTime } from '@ratatosk/ledger'
import type { SequencerContext } from '../context.js'

/** Age from which a merged block is final: layer 1 is never rolled back that far. */
export const finalAfterMs = 36 * 3_600_000

/** Blocks that one query reads. */
const pageSize = 256n

/** Whether layer 1 may still include a lost block: its commit until the block's end, a final block always. */
export async function canReturn(
  { store: { blocks }, slots }: SequencerContext,
  height: bigint,
  slot: bigint,
): Promise<boolean> {
  const block = await blocks.byHeight(height)
  if (block === undefined) return false
  if (block.mergedAt !== undefined && block.mergedAt.getTime() < Date.now() - finalAfterMs) return true
  return slotToTime(slots, slot) < block.endTime
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
