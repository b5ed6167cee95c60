import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Settings } from '../settings/schema.js'
import { isFromProxy, type TrustedProxies } from '../settings/trusted-proxies.js'

const header = 'x-request-id'
/** Safe values for a log line and a header. */
const acceptable = /^[\w.:-]{1,128}$/

/** Unique request ids; behind a trusted proxy, its `X-Request-Id` of up to 128 letters, digits and `_.:-`. */
export function requestIds(proxies: TrustedProxies | undefined): (request: IncomingMessage) => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return (request) => {
    const given = isFromProxy(proxies, request) ? request.headers[header] : undefined
    return typeof given === 'string' && acceptable.test(given) ? given : `${start}-${++count}`
  }
}

/** Sends every request's id as `X-Request-Id`, and logs requests as ACCESS_LOG says. */
export function identifyRequests(
  server: FastifyInstance,
  { ACCESS_LOG }: Pick<Settings, 'ACCESS_LOG'>,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header(header, request.id)
    done()
  })
  if (ACCESS_LOG === 'off') return
  server.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply
    if (ACCESS_LOG === 'all' || statusCode >= 400) {
      const { method, url, ip } = request
      const ms = Math.round(reply.elapsedTime)
      // Without the query, which names addresses.
      request.log.info({ method, path: url.split('?')[0], statusCode, ms, ip }, 'Request')
    }
    done()
  })
}
