import { newMemory, type Work } from '../life/work.js'
import type { OperationResult } from '../types.js'
import { burnQueue } from './burn-queue.js'

/** Burns the queue and forgets everything: blocks, mempool, ledger, history. Called again after a crash, it goes on. */
export async function reset(work: Work): Promise<OperationResult> {
  const { store, roots, operator, memory, log } = work
  await burnQueue(work)
  await store.blocks.reset(work.lease)
  work.step('store-emptied')
  // Nothing of what is on its way can be included: it spends what was burned.
  for (const id of operator.inFlight()) operator.release(id)
  Object.assign(memory, newMemory())
  memory.genesisRoot = await roots.rebuild(store.blocks.utxosAfterNewest())
  log.warn({}, 'reset: the state queue is burned and the store is empty')
  return { kind: 'reset' }
}
