import cors from '@fastify/cors'
import fastify from 'fastify'
import { createDevnet } from '../create-devnet.js'
import { devnetFaces } from '../faces/devnet-faces.js'
import { createMemoryStore } from '../store/memory-store.js'
import { createSqlStore } from '../store/sql-store.js'
import type { DevnetStore } from '../store/types.js'
import type { Devnet } from '../types.js'
import type { StandaloneOptions } from './options.js'

export interface Standalone {
  readonly devnet: Devnet
  /** `http://127.0.0.1:1337` */
  readonly url: string
  close(): Promise<void>
}

/** Opens the devnet with its store and serves all its faces. */
export async function start(options: StandaloneOptions): Promise<Standalone> {
  const { host, port, dataDirectory, blockEveryMs, slotLengthMs } = options
  const { store, close: closeStore } = await openStore(dataDirectory)
  const devnet = await createDevnet({ store, blockEveryMs, slotLengthMs })
  const server = fastify({
    forceCloseConnections: true,
    // Some clients write the base address with a slash at its end, and the path with one at its beginning.
    routerOptions: { ignoreDuplicateSlashes: true },
  })
  // Wallets and pages of any origin are what a devnet is for.
  await server.register(cors, { origin: true })
  await server.register(devnetFaces, { devnet, paths: { control: '/devnet' } })
  const url = await server.listen({ host, port })
  return {
    devnet,
    url,
    async close() {
      await server.close()
      await devnet.close()
      await closeStore()
    },
  }
}

async function openStore(
  directory: string | undefined,
): Promise<{ readonly store: DevnetStore; close(): Promise<void> }> {
  if (directory === undefined) return { store: createMemoryStore(), close: async () => {} }
  const { PGlite } = await import('@electric-sql/pglite')
  const pglite = await PGlite.create(directory)
  return { store: createSqlStore({ connection: pglite }), close: () => pglite.close() }
}
