import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { OperationResult } from '@ratatosk/ports'
import { removeBlock } from '@ratatosk/protocol'
import { administratorOf, type SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { pruneStale } from '../queue/prune.js'
import { sendChain } from '../send-transactions.js'
import { undoBlocks } from '../state/ledger-state.js'
import { readQueue, readReferenceScripts } from '../state/queue-elements.js'

/**
 * Removes a block of this header hash and those behind it. It comes first, so that an extension of the queue
 * meanwhile cannot keep it there. Blocks that an interruption leaves are pruned before the next one.
 */
export async function remove(context: SequencerContext, name: string): Promise<OperationResult> {
  const { log, cache } = context
  administratorOf(context)
  cache.comparison = undefined
  const headerHash = fromHex(name)
  const transactionId = await removeOne(context, headerHash)
  const pruned = await pruneStale(context)
  const gone = transactionId === undefined ? pruned : [headerHash, ...pruned]
  if (gone.length === 0)
    throw new SequencerError(
      'SEQUENCER_NO_SUCH_BLOCK',
      `Block ${name} is not in the state queue: ` +
        'only a block that is committed and not merged can be removed',
    )
  const lowest = await lowestHeight(context, gone)
  if (lowest !== undefined)
    await undoBlocks(context, lowest, 'the administrator removed it from the state queue')
  const removed = gone.map(toHex)
  log.warn({ removed, transactionId }, `Removed ${removed.length} blocks from the state queue`)
  return { kind: 'removed', headerHash: name, transactionId: transactionId ?? '', removed }
}

/** @returns the id of the transaction; undefined if the block is not in the queue */
async function removeOne(context: SequencerContext, headerHash: Uint8Array): Promise<string | undefined> {
  const { contracts } = context
  const { wallet } = administratorOf(context)
  for (;;) {
    const queue = await readQueue(context)
    const block = queue.blocks.find((each) => equalBytes(each.headerHash, headerHash))
    if (block === undefined) return undefined
    const draft = removeBlock(contracts, queue, headerHash, await readReferenceScripts(context))
    const [transaction] = await sendChain(context, wallet, ({ length }) =>
      length > 0 ? undefined : { spends: [block.utxo], draft },
    )
    if (transaction === undefined) continue
    context.step('blocks-removed')
    return toHex(transaction.id)
  }
}

/** The lowest height at which this store has one of these blocks; undefined if it has none of them. */
async function lowestHeight(
  { store: { blocks } }: Pick<SequencerContext, 'store'>,
  headerHashes: readonly Uint8Array[],
): Promise<bigint | undefined> {
  let lowest: bigint | undefined
  for (const hash of headerHashes) {
    const block = await blocks.byHash(hash)
    if (block === undefined || block.state === 'removed') continue
    if (lowest === undefined || block.height < lowest) lowest = block.height
  }
  return lowest
}
