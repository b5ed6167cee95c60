import { devnetApis } from '@ratatosk/devnet'
import fastify from 'fastify'
import type { Devnet } from './devnet-harness.js'

/** The HTTP APIs of a devnet on a port of their own. `heard` gets the path of each request. */
export async function serveApis(
  devnet: Devnet,
  heard: (path: string) => Promise<void> | void = () => undefined,
) {
  const server = fastify({ forceCloseConnections: true })
  server.addHook('onRequest', async ({ url }) => heard(url))
  await server.register(devnetApis, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    blockfrost: `${url}/blockfrost/api/v0`,
    kupo: `${url}/kupo`,
    ogmios: `${url}/ogmios`,
    close: () => server.close(),
  }
}
