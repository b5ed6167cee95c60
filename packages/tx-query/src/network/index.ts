import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { checkedLater, errorHandler, openScope } from '@ratatosk/http'
import { Value } from '@sinclair/typebox/value'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { NetworkInfo, networkSchema } from './schemas.js'

export { NetworkInfo, networkSchema } from './schemas.js'

/** Options of {@link network}. */
export interface NetworkOptions extends RegisterOptions {
  /** The answer. It does not change while the server runs. */
  info: NetworkInfo
}

const name = '@ratatosk/tx-query/network'
/** How long clients may keep the answer, in seconds. */
const maxAge = 60

const plugin: FastifyPluginAsyncTypebox<NetworkOptions> = async (fastify, options) => {
  openScope(fastify, name, { info: checkedLater }, options)
  const { info } = options
  const [wrong] = Value.Errors(NetworkInfo, info)
  if (wrong !== undefined) throw new TypeError(`${name}: info${wrong.path}: ${wrong.message}`)
  fastify.setErrorHandler(errorHandler)
  fastify.get('/network', { schema: networkSchema }, async (_request, reply) =>
    reply.header('cache-control', `public, max-age=${maxAge}`).send(info),
  )
}

/**
 * Fastify plugin: `GET /network` serves what a client needs to build transactions: network, slot clock,
 * protocol parameters, maturity window, versions, and where the APIs are.
 *
 * Encapsulated. Throws a `TypeError` at startup if the answer does not fit its schema.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(network, { info })
 * ```
 */
export const network = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default network
