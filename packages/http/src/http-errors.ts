import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyHttpOptions, FastifyInstance } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { clientErrorHandler } from './client-error-handler.js'
import { answerError, errorHandler } from './error-handler.js'
import { HttpError } from './errors.js'
import { notFoundHandler } from './not-found.js'
import type { ErrorBody } from './schemas.js'

/**
 * Options of `fastify()` under which errors outside of every route are JSON too. The plugin {@link httpErrors} does the rest.
 *
 * Node answers a missing `Host` header without a body; so the check is taken from it and done in the plugin.
 */
export const httpErrorOptions = {
  clientErrorHandler,
  frameworkErrors: answerError,
  http: { requireHostHeader: false },
} satisfies FastifyHttpOptions<Server>

/**
 * Fastify plugin for a whole server: every error body is `{ "error": string, … }`, and what is not served is one 404.
 *
 * @example
 * ```ts
 * const server = fastify({ ...httpErrorOptions })
 * await server.register(httpErrors)
 * ```
 */
export const httpErrors = fp(
  async (fastify: FastifyInstance) => {
    fastify.setErrorHandler(errorHandler)
    fastify.setNotFoundHandler(notFoundHandler)
    fastify.server.on('checkExpectation', refuseExpectation)
    // RFC 9112, section 3.2: a request of HTTP/1.1 without the header Host is answered 400.
    fastify.addHook('onRequest', (request, _reply, done) => {
      if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
        done(new HttpError(400, 'HOST_MISSING', 'Missing Host header'))
      } else done()
    })
  },
  { name: '@ratatosk/http', fastify: '5.x' },
)

/** RFC 9110, section 10.1.1: only `100-continue` is known; Node's own 417 has no body. */
function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: 'Expectation Failed' } satisfies ErrorBody)
  response
    .writeHead(417, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    .end(body)
}
