import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import type { Devnet } from '../types.js'
import { blockfrostFace } from './blockfrost/blockfrost-face.js'
import { controlFace } from './control/control-face.js'
import { kupoFace } from './kupo/kupo-face.js'
import { ogmiosFace } from './ogmios/ogmios-face.js'

export interface DevnetFacesOptions {
  readonly devnet: Devnet
  /** Before all paths; default none. */
  readonly prefix?: string
  /** Where each face is; `false`: it is not served. */
  readonly paths?: {
    /** Default `/blockfrost/api/v0`. */
    readonly blockfrost?: string | false
    /** Default `/kupo`. */
    readonly kupo?: string | false
    /** Default `/ogmios`, by WebSocket and by POST alike. */
    readonly ogmios?: string | false
    /** Blocks by hand, roll-backs and faults, for whoever reaches the server. Default: not served. */
    readonly control?: string | false
  }
}

/** Larger than any transaction with outputs beside it. */
const maxPayload = 4 * 1024 * 1024

async function plugin(fastify: FastifyInstance, { devnet, prefix = '', paths = {} }: DevnetFacesOptions) {
  if (typeof devnet?.submit !== 'function') throw new TypeError('@ratatosk/devnet: devnet must be a devnet')
  const { blockfrost = '/blockfrost/api/v0', kupo = '/kupo', ogmios = '/ogmios', control = false } = paths
  if (blockfrost !== false) await fastify.register(blockfrostFace, { devnet, prefix: prefix + blockfrost })
  if (kupo !== false) await fastify.register(kupoFace, { devnet, prefix: prefix + kupo })
  if (control !== false) await fastify.register(controlFace, { devnet, prefix: prefix + control })
  if (ogmios !== false) {
    // One WebSocket server per HTTP server, however many devnets it shows.
    if (!fastify.hasDecorator('websocketServer')) {
      await fastify.register(websocket, { options: { maxPayload } })
    }
    await fastify.register(ogmiosFace, { devnet, prefix: prefix + ogmios })
  }
}

/**
 * Fastify plugin: shows a devnet as wallets and SDKs expect a layer 1, by the HTTP of Blockfrost and Kupo and by Ogmios's
 * WebSocket. Each face is encapsulated; the devnet is its owner's to close, after the server.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(devnetFaces, { devnet })
 * await server.listen({ port: 1337 })
 * ```
 */
export const devnetFaces = fp(plugin, { name: '@ratatosk/devnet', fastify: '5.x' })
