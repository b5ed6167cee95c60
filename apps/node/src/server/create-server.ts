import { routerOptions } from '@ratatosk/chain-apis'
import { lazySchemas, limitedServer, type ServerLimits } from '@ratatosk/http'
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Settings } from '../settings/schema.js'
import { checkForwardedFor, trustedProxies } from '../settings/trusted-proxies.js'
import { requestIds } from './requests.js'

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
