import { toHex } from '@ratatosk/cbor'
import { slotToTime } from '@ratatosk/ledger'
import type { Block, BlockState } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'

/** Whether a block's maturity window has ended at a slot. */
export function isMature({ slots, contracts }: SequencerContext, { endTime }: Block, slot: bigint): boolean {
  return endTime + contracts.parameters.maturityWindow <= slotToTime(slots, slot)
}

export function setState(
  { store, lease }: SequencerContext,
  blocks: readonly Block[],
  state: Exclude<BlockState, 'removed'>,
): Promise<void> {
  return store.blocks.setState(
    blocks.map(({ headerHash }) => headerHash),
    state,
    lease,
  )
}

/** Records that blocks are in the state queue. */
export async function markCommitted(context: SequencerContext, blocks: readonly Block[]): Promise<void> {
  await setState(context, blocks, 'committed')
  context.step('block-committed')
  for (const block of blocks) context.log.info(...blockLine(block, 'confirmed in the state queue'))
}

/** Records that blocks are mature. */
export async function markMature(context: SequencerContext, blocks: readonly Block[]): Promise<void> {
  await setState(context, blocks, 'mature')
  context.step('block-mature')
  for (const block of blocks) context.log.info(...blockLine(block, 'is mature'))
}

/** Records that blocks are in the confirmed state. */
export async function markMerged(context: SequencerContext, blocks: readonly Block[]): Promise<void> {
  await setState(context, blocks, 'merged')
  context.step('block-merged')
  for (const block of blocks) context.log.info(...blockLine(block, 'merged into the confirmed state'))
}

/** The arguments of a log line about a block. */
export function blockLine({ height, headerHash, transactions }: Block, event: string): [object, string] {
  const hash = toHex(headerHash)
  return [
    { height: Number(height), headerHash: hash, transactions },
    `Block ${height} (${hash.slice(0, 10)}) ${event}`,
  ]
}
