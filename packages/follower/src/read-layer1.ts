import type { Layer1 } from '@ratatosk/layer1'
import { type Contracts, readStateQueue, soundBlocks, soundRoot } from '@ratatosk/protocol'
import type { QueueReader } from './types.js'

/** Reads the state queue of the contracts from layer 1. */
export function layer1Chain(layer1: Pick<Layer1, 'utxosByPolicy'>, contracts: Contracts): QueueReader {
  return {
    async read(signal) {
      const utxos = await layer1.utxosByPolicy(contracts.scripts.queue.policy, { signal })
      const queue = readStateQueue(contracts, utxos)
      return {
        confirmed: soundRoot(queue).datum.state,
        // Blocks behind a removed block can never be merged.
        blocks: soundBlocks(queue).map(({ datum }) => datum.header),
      }
    },
  }
}
