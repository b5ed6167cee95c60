import { devnetFaces } from '@ratatosk/devnet'
import fastify from 'fastify'
import type { Devnet } from './devnet-harness.js'

/** A devnet's faces on a port of their own. */
export async function serveFaces(devnet: Devnet) {
  const server = fastify({ forceCloseConnections: true })
  await server.register(devnetFaces, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    blockfrost: `${url}/blockfrost/api/v0`,
    kupo: `${url}/kupo`,
    ogmios: `${url}/ogmios`,
    close: () => server.close(),
  }
}
