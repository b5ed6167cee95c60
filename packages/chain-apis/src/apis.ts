import type { FastifyInstance } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { blockfrostApi } from './blockfrost/blockfrost-api.js'
import type { FaultSource } from './faults/faults.js'
import { kupoApi } from './kupo/kupo-api.js'
import { LongLists } from './long-lists.js'
import { ogmiosApi } from './ogmios/ogmios-api.js'
import { type OgmiosVersion, ogmiosVersions } from './versions.js'
import type { ChainView } from './view/chain-view.js'
import { registerWebSockets } from './websockets.js'

/** Options of the {@link apis} plugin. */
export interface ApisOptions {
  /** The chain to serve. Its owner closes it, after the server. */
  readonly chain: ChainView
  /** Prefix of all paths. Default none. */
  readonly prefix?: string
  /** Path of each API below the prefix; `false` disables the API. */
  readonly paths?: {
    /** Default `/blockfrost/api/v0`. */
    readonly blockfrost?: string | false
    /** Blockfrost for clients of Yaci, which expect 202. Default `/yaci/api/v1`, if Blockfrost is served. */
    readonly yaci?: string | false
    /** Default `/kupo`. */
    readonly kupo?: string | false
    /** Ogmios by WebSocket and by POST. Default `/ogmios`. */
    readonly ogmios?: string | false
  }
  /** The version of the Ogmios API. Default 6. */
  readonly ogmiosVersion?: OgmiosVersion
  /**
   * Whether Ogmios's responses have the fields of JSON-RPC 2.0 only, without `method`, as strict clients
   * want. Default false.
   */
  readonly ogmiosStrictRpc?: boolean
  /** The most outputs that a response of Blockfrost may add up; more are refused. Default 10,000. */
  readonly maxOutputs?: number
  /** The most WebSockets of the server, over all chains; more are answered 503. Default 2,500. */
  readonly maxWebSockets?: number
  /**
   * Time for which the client of a WebSocket may take nothing of a message or not answer a ping, in
   * milliseconds; then it is closed. For pings, that of the first registration on a server holds. Default
   * 30,000.
   */
  readonly stallTimeoutMs?: number
  /** Makes requests fail, for tests of clients. Default none. */
  readonly faults?: FaultSource
}

async function plugin(fastify: FastifyInstance, options: ApisOptions): Promise<void> {
  const { chain, prefix = '', paths = {}, faults } = options
  const { maxOutputs = 10_000, maxWebSockets = 2500, stallTimeoutMs = 30_000 } = options
  const { ogmiosVersion: version = '6', ogmiosStrictRpc: strictRpc = false } = options
  if (typeof chain?.submit !== 'function') {
    throw new TypeError('@ratatosk/chain-apis: the option chain must satisfy ChainView')
  }
  for (const [name, value] of Object.entries({ maxOutputs, maxWebSockets, stallTimeoutMs })) {
    if (!(value >= 1)) throw new TypeError(`@ratatosk/chain-apis: ${name} must be at least 1`)
  }
  if (!ogmiosVersions.includes(version)) {
    const allowed = ogmiosVersions.join(' or ')
    throw new TypeError(`@ratatosk/chain-apis: ogmiosVersion must be ${allowed}, not ${version}`)
  }
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
 * Each API is encapsulated, and needs no option of the server.
 *
 * @throws {TypeError} (at registration) for options that cannot work
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(apis, { chain, prefix: '/l2' })
 * ```
 */
export const apis = fp(plugin, { name: '@ratatosk/chain-apis', fastify: '5.x' })
