import {
  apiPath,
  apis,
  apisRules,
  type FieldRule,
  faultOfFields,
  type OgmiosVersion,
  optional,
  optionsOfFastify,
  withMethods,
} from '@ratatosk/chain-apis'
import { devWalletScript, faultOfScriptUrl } from '@ratatosk/client/wallet/script'
import { refuseForeignPages } from '@ratatosk/http'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { refuse } from '../errors.js'
import { testWallets } from '../genesis.js'
import type { Devnet } from '../types.js'
import { chainViewOf } from './chain-view.js'
import { type ControlOptions, controlApi } from './control-api.js'
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

/** The rule of the guards themselves. */
const hosts = optional([
  (value) => {
    try {
      return refuseForeignPages(value as readonly string[]) !== undefined
    } catch {
      return false
    }
  },
  'an array of host names or IP addresses, without port',
])

const rules: Readonly<Record<keyof DevnetApisOptions, FieldRule>> = {
  devnet: [withMethods('submit', 'tip')[0], 'that of createDevnet'],
  ...apisRules,
  allowedHosts: hosts,
}

const pathRules: Readonly<Record<keyof NonNullable<DevnetApisOptions['paths']>, FieldRule>> = {
  blockfrost: apiPath,
  yaci: apiPath,
  kupo: apiPath,
  ogmios: apiPath,
  control: apiPath,
  wallet: apiPath,
}

const controlRules: Readonly<Record<keyof ControlOptions, FieldRule>> = {
  devnet: [(value) => typeof value === 'function', 'a function'],
  sequencer: optional(withMethods('start', 'close')),
  allowedHosts: hosts,
  route: optional([(value) => typeof value === 'object' && value !== null, 'an object']),
}

async function plugin(fastify: FastifyInstance, options: DevnetApisOptions) {
  refuse(faultOfFields('devnetApis', 'option', rules, options, optionsOfFastify))
  refuse(faultOfFields('devnetApis: paths', 'option', pathRules, options.paths ?? {}))
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
    fastify.get(prefix + wallet, async ({ url }, reply) => {
      const fault = faultOfScriptUrl(url, script.wallets)
      if (fault !== undefined) return reply.code(400).send({ error: fault })
      return reply.type('text/javascript; charset=utf-8').send(await devWalletScript(script))
    })
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
 * @throws {DevnetError} (at registration) `DEVNET_CONFIGURATION` for an option that is wrong or unknown
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
 * @throws {DevnetError} (at registration) `DEVNET_CONFIGURATION` for an option that is wrong or unknown
 * @example
 * ```ts
 * await server.register(devnetControls, { prefix: '/devnet', devnet: () => devnet, route: { onRequest } })
 * ```
 */
export const devnetControls: FastifyPluginAsync<ControlOptions> = async (fastify, options) => {
  refuse(faultOfFields('devnetControls', 'option', controlRules, options, optionsOfFastify))
  const { devnet, sequencer, route = {}, allowedHosts = [] } = options
  await fastify.register(controlApi, { devnet, route, allowedHosts, ...(sequencer && { sequencer }) })
  await fastify.register(topUpApi, { devnet, route, allowedHosts })
}
