// Compiled, never run: checks what the types accept and refuse.
import type { Archive, BlockRules } from '@ratatosk/block'
import type { QueueBlock, QueueOutput } from '@ratatosk/contracts'
import type { Log } from '@ratatosk/ports'
import type { Store } from '@ratatosk/store'
import { createFollower, type Follower, type WritableArchive } from '../index.js'

declare const store: Store
declare const queue: readonly QueueBlock<QueueOutput>[]
declare const log: Log
declare const rules: BlockRules

export const writable: WritableArchive = store.archive

export const follower: Promise<Follower> = createFollower({
  chain: {
    read: async () => ({
      confirmed: { headerHash: new Uint8Array(28), utxoRoot: new Uint8Array(32) },
      blocks: queue.map(({ datum }) => datum.header),
    }),
  },
  peers: [],
  archive: store.archive,
  genesis: [{ reference: { transactionId: new Uint8Array(32), index: 0 }, output: new Uint8Array() }],
  rules,
  log,
})

const archive: Archive = store.archive
const read = async () => ({ confirmed: { headerHash: new Uint8Array(28) }, blocks: [] })
// @ts-expect-error a follower writes to its archive
createFollower({ chain: { read }, peers: [], archive, genesis: [], rules, log })
