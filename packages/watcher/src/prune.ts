import { pruneBlocks, type StateQueue, staleBlocks } from '@ratatosk/protocol'
import type { WatcherContext } from './context.js'
import { readScripts } from './read-layer1.js'
import { buildAndSend, follow } from './send.js'

/**
 * Prunes the blocks behind a removed one, which can never be merged. Their ada goes to the wallet.
 *
 * @param slot of layer 1's tip
 */
export async function pruneBehindRemoved(
  context: WatcherContext,
  queue: StateQueue,
  slot: bigint,
): Promise<void> {
  if (staleBlocks(queue) === undefined) return
  const removed = await context.verdicts.newestRemoved()
  if (removed === undefined) return
  const { headerHash, journal } = removed
  const sent = await follow(
    context,
    journal.filter(({ stage }) => stage === 'prune'),
    slot,
  )
  if (sent.some(({ state }) => state === 'pending')) return
  const draft = pruneBlocks(context.contracts, queue, await readScripts(context))
  await buildAndSend(context, { headerHash, stage: 'prune', draft }, slot)
}
