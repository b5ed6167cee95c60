import type { OperationResult } from '@ratatosk/ports'
import { newMemory, type SequencerContext } from '../context.js'
import { administratorOf } from './administrator.js'
import { burnQueue } from './burn-queue.js'

/**
 * Burns the queue and empties blocks, mempool, ledger and history. An interrupted reset continues when it is
 * requested again.
 */
export async function reset(context: SequencerContext): Promise<OperationResult> {
  const { store, roots, operator, memory, log } = context
  administratorOf(context)
  await burnQueue(context)
  await store.blocks.reset(context.lease)
  context.step('store-emptied')
  // No transaction in flight can be included: each spends an element that was burned.
  for (const id of operator.inFlight()) operator.release(id)
  Object.assign(memory, newMemory())
  memory.genesisRoot = await roots.rebuild(store.blocks.utxosAfterNewest())
  log.warn({}, 'Reset: the state queue is burned and the store is empty')
  return { kind: 'reset' }
}
