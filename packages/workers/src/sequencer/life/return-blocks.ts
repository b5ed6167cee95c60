import { toHex } from '@ratatosk/ledger'
import { alignRoots, rootBefore } from './align-roots.js'
import { short, type Work } from './work.js'

/** Puts the transactions of the blocks from a height on back into the mempool, and the trie before them. */
export async function returnBlocks(work: Work, fromHeight: bigint, why: string): Promise<void> {
  const { store, operator, memory, log } = work
  const removed = await store.blocks.returnToMempool(fromHeight, work.lease)
  const [first] = removed
  if (first === undefined) return
  work.step('block-returned')
  for (const { commitTransaction, mergeTransaction } of removed) {
    operator.release(toHex(commitTransaction.id))
    if (mergeTransaction) operator.release(toHex(mergeTransaction.id))
  }
  if (first.height === 1n) memory.genesisRoot = rootBefore(first)
  memory.matureUpTo = 0n
  memory.library = undefined
  const transactions = removed.reduce((sum, block) => sum + block.transactions, 0)
  for (const { height, headerHash } of removed) {
    log.warn(
      { height: Number(height), headerHash: toHex(headerHash) },
      `block ${height} (${short(headerHash)}) removed: ${why}`,
    )
  }
  log.warn({ transactions }, `${transactions} transactions are in the mempool again`)
  await alignRoots(work, await store.blocks.newest())
}
