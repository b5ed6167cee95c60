import { type RootElement, readStateQueue, type StateQueue } from '@ratatosk/protocol'
import type { SequencerContext } from '../context.js'
import { brokenQueue, notInitialised } from '../errors.js'

/** Reads the whole state queue at one moment. @throws {SequencerError} when it has no root or is broken */
export async function readQueue({
  layer1,
  contracts,
  signal,
}: Pick<SequencerContext, 'layer1' | 'contracts' | 'signal'>): Promise<
  StateQueue & { readonly root: RootElement }
> {
  const { policy } = contracts.scripts.queue
  const queue = readStateQueue(contracts, await layer1.utxosByPolicy(policy, { signal }))
  const [root] = queue.roots
  if (root === undefined) throw notInitialised()
  if (queue.fault) throw brokenQueue(queue.fault.message)
  return { ...queue, root }
}
