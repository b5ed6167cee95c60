import type { FastifyError, FastifyInstance, RouteShorthandOptions } from 'fastify'
import { isDevnetError } from '../errors.js'
import type { Devnet } from '../types.js'

/** Which devnet is controlled, and by whom. */
export interface ControlOptions {
  /** The devnet at the time of a request. A `DevnetError` that it throws is answered 409. */
  readonly devnet: () => Devnet
  /** What commits to the devnet, if it may be stopped. It runs at first. */
  readonly sequencer?: {
    start(): Promise<void>
    /** Resolves when it has stopped; {@link start} starts it again. */
    close(): Promise<void>
  }
  /** Hooks and config of every route. */
  readonly route?: Pick<RouteShorthandOptions, 'onRequest' | 'config'>
}

/** Error bodies of the control routes, and the refusal of other sites. */
export function guardControls(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    if (isDevnetError(error)) return reply.code(409).send({ error: error.message, code: error.code })
    const status = error.statusCode ?? 500
    if (status >= 500) request.log.error(error)
    return reply.code(status).send({ error: status >= 500 ? 'Internal server error' : error.message })
  })
  // A web page that the developer happens to open must not change the chain.
  fastify.addHook('onRequest', async (request, reply) => {
    if (request.headers['sec-fetch-site'] === 'cross-site') {
      return reply.code(403).send({ error: 'Cross-site requests are not allowed' })
    }
  })
}
