import { toHex } from '@ratatosk/ledger'
import type { Block, BlockState } from '@ratatosk/store'
import { short, type Work } from './work.js'

/** Notes that layer 1 has blocks in its confirmed state. */
export async function noteMerged(work: Work, blocks: readonly Block[]): Promise<void> {
  await setState(work, blocks, 'merged')
  work.step('block-merged')
  for (const block of blocks) work.log.info(...line('merged into the confirmed state', block))
}

/** Notes where blocks stand. */
export function setState(
  { store, lease }: Work,
  blocks: readonly Block[],
  state: Exclude<BlockState, 'removed'>,
): Promise<void> {
  return store.blocks.setState(
    blocks.map(({ headerHash }) => headerHash),
    state,
    lease,
  )
}

/** One line of the log about a block. */
export const line = (what: string, { height, headerHash, transactions }: Block): [object, string] => [
  { height: Number(height), headerHash: toHex(headerHash), transactions },
  `block ${height} (${short(headerHash)}) ${what}`,
]
