import type { FastifyInstance } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { blockfrostApi } from './blockfrost/blockfrost-api.js'
import { kupoApi } from './kupo/kupo-api.js'
import { LongLists } from './long-lists.js'
import { ogmiosApi } from './ogmios/ogmios-api.js'
import { type ApisOptions, checkOptions } from './options.js'
import { registerWebSockets } from './websockets.js'

async function plugin(fastify: FastifyInstance, options: ApisOptions): Promise<void> {
  checkOptions(options)
  const { chain, prefix = '', paths = {}, faults } = options
  const { maxOutputs = 10_000, maxWebSockets = 2500, stallTimeoutMs = 30_000 } = options
  const { ogmiosVersion: version = '6', ogmiosStrictRpc: strictRpc = false } = options
  const { blockfrost = '/blockfrost/api/v0', kupo = '/kupo', ogmios = '/ogmios' } = paths
  const { yaci = blockfrost !== false && '/yaci/api/v1' } = paths
  const api = { chain, faults }
  const lists = new LongLists()
  for (const [path, postStatus] of [
    [blockfrost, 200],
    [yaci, 202],
  ] as const) {
    if (path === false) continue
    await fastify.register(blockfrostApi, { ...api, lists, maxOutputs, postStatus, prefix: prefix + path })
  }
  if (kupo !== false) await fastify.register(kupoApi, { ...api, lists, prefix: prefix + kupo })
  if (ogmios !== false) {
    // One WebSocket server per HTTP server, however many chains it serves.
    await registerWebSockets(fastify, stallTimeoutMs)
    await fastify.register(ogmiosApi, {
      ...api,
      lists,
      version,
      strictRpc,
      maxWebSockets,
      stallTimeoutMs,
      prefix: prefix + ogmios,
    })
  }
}

/**
 * Fastify plugin that serves a chain through the APIs that wallets and SDKs use: Blockfrost, Kupo and Ogmios.
 * Each API is encapsulated. The server needs the `routerOptions` of this package.
 *
 * @throws {TypeError} (at registration) for an option that cannot work or does not exist
 * @example
 * ```ts
 * const server = fastify({ routerOptions })
 * await server.register(apis, { chain, prefix: '/l2' })
 * ```
 */
export const apis = fp(plugin, { name: '@ratatosk/chain-apis', fastify: '5.x' })
