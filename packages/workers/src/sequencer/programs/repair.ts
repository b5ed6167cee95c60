import { returnBlocks } from '../life/return-blocks.js'
import type { Work } from '../life/work.js'
import type { OperationResult } from '../types.js'
import { burnQueue } from './burn-queue.js'

/** Takes several root units away, with the whole queue; init mints a single new one. */
export async function repair(work: Work): Promise<OperationResult> {
  const { store, layer1, contracts, signal } = work
  const roots = await layer1.utxosByUnit(contracts.queue.unit, { signal })
  if (roots.length > 1) {
    const confirmed = await store.blocks.confirmed()
    await returnBlocks(work, (confirmed?.height ?? 0n) + 1n, 'the state queue has several roots')
    await burnQueue(work)
  }
  return { kind: 'repaired' }
}
