// Compiled, never run: checks what the types accept and refuse.
import type { Store } from '@ratatosk/store'
import fastify from 'fastify'
import archivist, { type Archive, type ArchivistOptions, archiveOfBlocks } from '../index.js'

declare const store: Store
const server = fastify()

// The store implements both interfaces.
server.register(archivist, { archive: store.archive })
server.register(archivist, { archive: archiveOfBlocks(store.blocks), prefix: '/archivist', logLevel: 'warn' })
server.register(archivist, {
  archive: archiveOfBlocks(store.blocks, { cacheBytes: 0 }),
} satisfies ArchivistOptions)

const archive: Archive = store.archive
const byHeight = (height: number) => archive.byHeight(BigInt(height))
const body = async () => new Uint8Array()
// @ts-expect-error an archive is required
server.register(archivist, {})
// @ts-expect-error heights are bigints
server.register(archivist, { archive: { ...archive, byHeight } })
// @ts-expect-error bodies are async iterables
server.register(archivist, { archive: { ...archive, body } })
