// Compiled, never run: what the types accept and what they refuse.
import type { QueueBlock, QueueOutput } from '@ratatosk/contracts'
import type { Store } from '@ratatosk/store'
import fastify from 'fastify'
import { createFollower, type Follower, type WritableArchive } from '../follower/index.js'
import archivist, { type Archive, type ArchivistOptions, archiveOfBlocks } from '../index.js'

declare const store: Store
declare const queue: readonly QueueBlock<QueueOutput>[]
const server = fastify()

// The store fits by its shape, its archive and its blocks alike.
server.register(archivist, { archive: store.archive })
server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist', logLevel: 'warn' })
server.register(archivist, {
  archive: archiveOfBlocks(store.blocks, { cacheBytes: 0 }),
} satisfies ArchivistOptions)
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
  log: server.log,
})

const archive: Archive = store.archive
const byHeight = (height: number) => archive.byHeight(BigInt(height))
const body = async () => new Uint8Array()
const read = async () => ({ confirmed: { headerHash: new Uint8Array(28) }, blocks: [] })
const log = server.log
// @ts-expect-error an archive is required
server.register(archivist, {})
// @ts-expect-error heights are bigints
server.register(archivist, { archive: { ...archive, byHeight } })
// @ts-expect-error bodies come in pieces
server.register(archivist, { archive: { ...archive, body } })
// @ts-expect-error what is only read cannot be followed into
createFollower({ chain: { read }, peers: [], archive, genesis: [], log })
