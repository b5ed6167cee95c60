import { refuseForeignPages } from '@ratatosk/http'
import type { FastifyError, FastifyInstance, RouteShorthandOptions } from 'fastify'
import { isDevnetError } from '../errors.js'
import type { Devnet } from '../types.js'

/** Which devnet is controlled, and by whom. */
export interface ControlOptions {
  /** The devnet at the time of a request. A `DevnetError` that it throws is answered 409. */
  readonly devnet: () => Devnet
  /** The sequencer that commits to the devnet, if it may be stopped. It runs at first. */
  readonly sequencer?: {
    start(): Promise<void>
    /** Resolves when it has stopped; {@link start} starts it again. */
    close(): Promise<void>
  }
  /**
   * Host names or IP addresses, without port, by which clients may address the server, beside loopback; if
   * `route` has no hooks.
   */
  readonly allowedHosts?: readonly string[]
  /** Hooks and config of every route. */
  readonly route?: Pick<RouteShorthandOptions, 'onRequest' | 'config'>
}

/**
 * Error bodies of the control routes. Routes without own hooks get the guards of a node: a web page that the
 * developer happens to open must not change the chain.
 */
export function guardControls(
  fastify: FastifyInstance,
  { route, allowedHosts }: Pick<ControlOptions, 'route' | 'allowedHosts'>,
): void {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    if (isDevnetError(error)) return reply.code(409).send({ error: error.message, code: error.code })
    const status = error.statusCode ?? 500
    if (status >= 500) request.log.error(error)
    return reply.code(status).send({ error: status >= 500 ? 'Internal server error' : error.message })
  })
  if (route?.onRequest === undefined) fastify.addHook('onRequest', refuseForeignPages(allowedHosts))
}
