import type { OperationResult } from '@ratatosk/ports'
import { removeBlock } from '@ratatosk/protocol'
import { undoBlocks } from '../blocks/ledger-state.js'
import { readQueue } from '../blocks/read-queue.js'
import { lowestHeight, pruneStale } from '../blocks/removed-blocks.js'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { administratorOf } from './administrator.js'
import { readReferenceScripts } from './reference-scripts.js'
import { sendChain } from './send-chain.js'

/**
 * Removes an unmerged block from the state queue, and those behind it, which can no longer be merged. The
 * block comes first, so that whoever extends the queue meanwhile cannot keep it there. Blocks of this store
 * are undone; blocks of others are just removed. What an interrupted removal leaves behind is pruned before
 * the next block is built.
 *
 * @param headerHash 56 hex digits
 */
export async function remove(context: SequencerContext, headerHash: string): Promise<OperationResult> {
  const { log, memory } = context
  administratorOf(context)
  memory.comparison = undefined
  const transactionId = await removeOne(context, headerHash)
  const pruned = await pruneStale(context)
  const removed = transactionId === undefined ? pruned : [headerHash, ...pruned]
  if (removed.length === 0)
    throw new SequencerError(
      'SEQUENCER_NO_SUCH_BLOCK',
      `Block ${headerHash} is not in the state queue: only a block that is committed and not merged can be removed`,
    )
  const lowest = await lowestHeight(context, removed)
  if (lowest !== undefined)
    await undoBlocks(context, lowest, 'the administrator removed it from the state queue')
  log.warn({ removed, transactionId }, `Removed ${removed.length} blocks from the state queue`)
  return { kind: 'removed', headerHash, transactionId: transactionId ?? '', removed }
}

/** @returns the id of the transaction; undefined if the block is not in the queue */
async function removeOne(context: SequencerContext, headerHash: string): Promise<string | undefined> {
  const { contracts } = context
  const { wallet } = administratorOf(context)
  for (;;) {
    const queue = await readQueue(context)
    const block = queue.blocks.find((each) => each.headerHash === headerHash)
    if (block === undefined) return undefined
    const draft = removeBlock(contracts, queue, headerHash, await readReferenceScripts(context))
    const [transaction] = await sendChain(context, wallet, ({ length }) =>
      length > 0 ? undefined : { spends: [block.utxo], draft },
    )
    if (transaction === undefined) continue
    context.step('blocks-removed')
    return transaction.id
  }
}
