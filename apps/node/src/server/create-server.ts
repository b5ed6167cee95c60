import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { routerOptions } from '@ratatosk/chain-apis'
import { lazySchemas, limitedServer, type ServerLimits } from '@ratatosk/http'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Settings } from '../settings/schema.js'
import {
  checkForwardedFor,
  isFromProxy,
  type TrustedProxies,
  trustedProxies,
} from '../settings/trusted-proxies.js'

const header = 'x-request-id'
/** Safe values for a log line and a header. */
const acceptable = /^[\w.:-]{1,128}$/

/** Unique request ids; behind a trusted proxy, its `X-Request-Id` of up to 128 letters, digits and `_.:-`. */
function requestIds(proxies: TrustedProxies | undefined): (request: IncomingMessage) => string {
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

/** Creates the HTTP server, without routes. */
export function createServer(settings: Settings, log: FastifyBaseLogger): FastifyInstance {
  const proxies = trustedProxies(settings.TRUST_PROXY)
  const server = fastify({
    ...limitedServer(limitsOf(settings)),
    ...lazySchemas(),
    loggerInstance: log,
    // Two log lines cost more than many requests do. The error handler logs failures.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(proxies),
    trustProxy: proxies === undefined ? false : proxies.trusts,
    rewriteUrl: singleSlashes,
    // Requests on open connections are answered while the node stops, and their connections close: a proxy
    // does not repeat a 503.
    return503OnClosing: false,
    routerOptions: { maxParamLength: routerOptions.maxParamLength },
    // The parts of a large ledger start meanwhile and keep the event loop busy: a plugin is then late by no
    // fault of its own. One that never finishes must still be named.
    pluginTimeout: 600_000,
  })
  if (proxies !== undefined) checkForwardedFor(server, proxies)
  return server
}

export function limitsOf(settings: Settings): ServerLimits {
  return {
    requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
    stallTimeoutMs: settings.STALL_TIMEOUT_MS,
    keepAliveTimeoutMs: settings.KEEP_ALIVE_TIMEOUT_MS,
    maxConnections: settings.MAX_CONNECTIONS,
    // Reports that the process runs, however busy it is.
    alwaysServed: ['/health/live'],
  }
}

/** Reduces double slashes in URLs of layer 2: some clients join a base URL that ends in a slash to a path. */
function singleSlashes({ url = '/' }: { readonly url?: string | undefined }): string {
  if (!url.startsWith('/l2/')) return url
  const [path = '', ...query] = url.split('?')
  return [path.replaceAll(/\/{2,}/g, '/'), ...query].join('?')
}
