import { apis, type OgmiosVersion } from '@ratatosk/chain-apis'
import { devWalletScript } from '@ratatosk/client/wallet/script'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { testWallets } from '../genesis/wallets.js'
import { refuseUnknown, refuseUnknownOf, wrong } from '../options.js'
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
    /** Blockfrost for clients of Yaci. Default `/yaci/api/v1`, if Blockfrost is served. */
    readonly yaci?: string | false
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

const optionNames = Object.keys({
  devnet: true,
  prefix: true,
  paths: true,
  allowedHosts: true,
  ogmiosVersion: true,
  ogmiosStrictRpc: true,
} satisfies Record<keyof DevnetApisOptions, true>)

const pathNames = Object.keys({
  blockfrost: true,
  yaci: true,
  kupo: true,
  ogmios: true,
  control: true,
  wallet: true,
} satisfies Record<keyof NonNullable<DevnetApisOptions['paths']>, true>)

const controlNames = Object.keys({
  devnet: true,
  sequencer: true,
  allowedHosts: true,
  route: true,
} satisfies Record<keyof ControlOptions, true>)

/** @throws {DevnetError} `DEVNET_CONFIGURATION` for an option that is wrong or does not exist */
function checkOptions(options: DevnetApisOptions): void {
  refuseUnknownOf('devnetApis', options, optionNames)
  const { devnet, paths = {} } = options
  if (typeof devnet?.submit !== 'function')
    throw wrong('devnetApis requires the option devnet, from createDevnet')
  if (typeof paths !== 'object' || paths === null) throw wrong('devnetApis: paths must be an object')
  refuseUnknown('devnetApis: paths', paths, pathNames)
  for (const [name, path] of Object.entries<unknown>(paths))
    if (path !== undefined && path !== false && !(typeof path === 'string' && /^(?:\/.*)?$/.test(path)))
      throw wrong(`devnetApis: paths: ${name} must be a path that begins with a slash, or false, not ${path}`)
}

async function plugin(fastify: FastifyInstance, options: DevnetApisOptions) {
  checkOptions(options)
  const { devnet, prefix = '', paths = {}, allowedHosts = [], ogmiosVersion, ogmiosStrictRpc } = options
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
 * @throws {DevnetError} (at registration) `DEVNET_CONFIGURATION` without a devnet, or for an option that does
 *   not exist
 * @example
 * ```ts
 * const server = fastify({ routerOptions })
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
  refuseUnknownOf('devnetControls', options, controlNames)
  await fastify.register(controlApi, { devnet, route, allowedHosts, ...(sequencer && { sequencer }) })
  await fastify.register(topUpApi, { devnet, route, allowedHosts })
}
