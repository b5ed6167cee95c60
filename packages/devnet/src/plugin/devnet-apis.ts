import { apis, type OgmiosVersion } from '@ratatosk/chain-apis'
import { devWalletScript } from '@ratatosk/client/wallet/script'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { DevnetError } from '../errors.js'
import { testWallets } from '../genesis/wallets.js'
import type { Devnet } from '../types.js'
import { chainViewOf } from './chain-view.js'
import { controlApi } from './control-api.js'
import type { ControlOptions } from './control-guards.js'
import { topUpApi } from './top-up.js'

/** Options of the {@link devnetApis} plugin. */
export interface DevnetApisOptions {
  /** The devnet to serve. Its owner closes it, after the server. */
  readonly devnet: Devnet
  /** Prefix of all paths. Default none. */
  readonly prefix?: string
  /** Path of each API below the prefix; `false` disables the API. */
  readonly paths?: {
    /** Default `/blockfrost/api/v0`. */
    readonly blockfrost?: string | false
    /** Default `/kupo`. */
    readonly kupo?: string | false
    /** Ogmios by WebSocket and by POST. Default `/ogmios`. */
    readonly ogmios?: string | false
    /**
     * Blocks on demand, roll-backs, faults and top-ups, for anyone who can reach the server. Default `false`.
     */
    readonly control?: string | false
    /**
     * A script for web pages with the keys of the test wallets: `@ratatosk/client/wallet`. Default `false`.
     */
    readonly wallet?: string | false
  }
  /**
   * Host names or IP addresses, without port, by which clients may address the controls; loopback always.
   * Web pages of other origins may not use them.
   */
  readonly allowedHosts?: readonly string[]
  /** The version of the Ogmios API. Default 6. */
  readonly ogmiosVersion?: OgmiosVersion
  /** Whether Ogmios's responses have no field `method`. Default false. */
  readonly ogmiosStrictRpc?: boolean
}

async function plugin(fastify: FastifyInstance, options: DevnetApisOptions) {
  const { devnet, prefix = '', paths = {}, allowedHosts = [], ogmiosVersion, ogmiosStrictRpc } = options
  if (typeof devnet?.submit !== 'function') {
    throw new DevnetError('DEVNET_CONFIGURATION', 'devnetApis requires the option devnet, from createDevnet')
  }
  const { control = false, wallet = false, ...served } = paths
  const { blockfrost = '/blockfrost/api/v0' } = served
  if (control !== false) {
    const controls = { devnet: () => devnet, allowedHosts }
    await fastify.register(controlApi, { ...controls, prefix: prefix + control })
    await fastify.register(topUpApi, { ...controls, prefix: `${prefix}/local-cluster/api` })
  }
  if (wallet !== false && blockfrost !== false) {
    const script = { wallets: testWallets.wallets, url: prefix + blockfrost }
    fastify.get(prefix + wallet, async (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').send(await devWalletScript(script)),
    )
  }
  await fastify.register(apis, {
    chain: chainViewOf(devnet),
    faults: devnet.faults,
    prefix,
    paths: served,
    ...(ogmiosVersion && { ogmiosVersion }),
    ...(ogmiosStrictRpc && { ogmiosStrictRpc }),
    // They are in memory anyway.
    maxOutputs: Number.POSITIVE_INFINITY,
  })
}

/**
 * Fastify plugin that serves a devnet through the APIs that wallets and SDKs use for layer 1: Blockfrost,
 * Kupo and Ogmios. Each API is encapsulated.
 *
 * @throws {DevnetError} (at registration) `DEVNET_CONFIGURATION` without a devnet
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(devnetApis, { devnet })
 * await server.listen({ port: 1337 })
 * ```
 */
export const devnetApis = fp(plugin, { name: '@ratatosk/devnet', fastify: '5.x' })

/**
 * Fastify plugin with the controls of a devnet alone, top-ups included, for a server whose access to them is
 * restricted. Give it a `prefix`.
 *
 * @example
 * ```ts
 * await server.register(devnetControls, { prefix: '/devnet', devnet: () => devnet, route: { onRequest } })
 * ```
 */
export const devnetControls: FastifyPluginAsync<ControlOptions> = async (
  fastify,
  { sequencer, ...options },
) => {
  const { devnet, route = {}, allowedHosts = [] } = options
  await fastify.register(controlApi, { devnet, route, allowedHosts, ...(sequencer && { sequencer }) })
  await fastify.register(topUpApi, { devnet, route, allowedHosts })
}
