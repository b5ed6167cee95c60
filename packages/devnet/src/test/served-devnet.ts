import { routerOptions } from '@ratatosk/chain-apis'
import fastify, { type FastifyInstance } from 'fastify'
import { createDevnet } from '../create-devnet.js'
import { devnetApis } from '../plugin/devnet-apis.js'
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

/** Serves a devnet with all APIs on a free port. */
export async function serveDevnet(options: DevnetOptions = {}): Promise<ServedDevnet> {
  const devnet = await createDevnet(options)
  const server = fastify({
    forceCloseConnections: true,
    routerOptions,
  })
  await server.register(devnetApis, { devnet })
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
