import { pruneBlocks, type StateQueue, staleBlocks } from '@ratatosk/protocol'
import type { WatcherContext } from './context.js'
import { readScripts } from './read-layer1.js'
import { buildAndSend, follow } from './send.js'

/** Prunes the blocks behind a removed one. `wasPruning`, and the result: transactions may be in flight. */
export async function pruneBehindRemoved(
  context: WatcherContext,
  queue: StateQueue,
  slot: bigint,
  wasPruning: boolean,
): Promise<boolean> {
  const isStale = staleBlocks(queue) !== undefined
  if (!isStale && !wasPruning) return false
  const removed = await context.verdicts.newestRemoved()
  if (removed === undefined) return false
  const { headerHash, journal } = removed
  const sent = await follow(
    context,
    journal.filter(({ stage }) => stage === 'prune'),
    slot,
  )
  if (sent.some(({ state }) => state === 'pending')) return true
  if (!isStale) return false
  const draft = pruneBlocks(context.contracts, queue, await readScripts(context))
  await buildAndSend(context, { headerHash, stage: 'prune', draft }, slot)
  return true
}
