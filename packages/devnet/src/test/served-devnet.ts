import fastify, { type FastifyInstance } from 'fastify'
import { createDevnet } from '../create-devnet.js'
import { devnetFaces } from '../faces/devnet-faces.js'
import type { Devnet, DevnetOptions } from '../types.js'

export interface ServedDevnet {
  readonly devnet: Devnet
  readonly server: FastifyInstance
  /** `127.0.0.1:<port>` */
  readonly host: string
  readonly blockfrost: string
  readonly kupo: string
  readonly ogmios: string
  close(): Promise<void>
}

/** A devnet with all its faces, on a port of its own. */
export async function serveDevnet(options: DevnetOptions = {}): Promise<ServedDevnet> {
  const devnet = await createDevnet(options)
  const server = fastify({
    forceCloseConnections: true,
    // Some clients write the base address with a slash at its end, and the path with one at its beginning.
    routerOptions: { ignoreDuplicateSlashes: true },
  })
  await server.register(devnetFaces, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    devnet,
    server,
    host: new URL(url).host,
    blockfrost: `${url}/blockfrost/api/v0`,
    kupo: `${url}/kupo`,
    ogmios: `${url}/ogmios`,
    async close() {
      await server.close()
      await devnet.close()
    },
  }
}
