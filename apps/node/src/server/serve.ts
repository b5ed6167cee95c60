import rateLimit from '@fastify/rate-limit'
import underPressure from '@fastify/under-pressure'
import {
  explainErrors,
  httpErrors,
  isServedUnderLoad,
  OverloadedError,
  RateLimitError,
  refusalLog,
  sameOriginOnly,
  serverLimits,
} from '@ratatosk/http'
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import { nodeVersion } from '../command-line.js'
import type { Node, PluginRow } from '../node.js'
import type { Settings } from '../settings/schema.js'
import { identifyRequests, limitsOf } from './create-server.js'
import { allowOrigins } from './cross-origin.js'
import { listen } from './listen.js'
import { helpOf } from './logger.js'

/** Registers the plugins of the role, and listens; returns the base URL. @throws StartError `NODE_LISTEN` */
export async function serve(node: Node, plugins: readonly PluginRow[]): Promise<string> {
  const { server, settings, duties, log } = node
  log.info('Start: registering the routes')
  identifyRequests(server, settings)
  nameNode(server, node)
  explainErrors(server, helpOf)
  // First, so that pages can read the error bodies of what follows.
  await allowOrigins(server, settings)
  await server.register(serverLimits, limitsOf(settings))
  await server.register(httpErrors)
  await limitLoad(server, settings)
  landingPage(server)
  for (const { when, register } of plugins) {
    if (when(duties, settings)) await register(node)
  }
  return listen(server, settings)
}

/** Says beside the readiness which node answers: not every role has a route of its own for it. */
function nameNode(
  server: FastifyInstance,
  { settings: { NODE_ROLE, NETWORK }, sequencer }: Pick<Node, 'settings' | 'sequencer'>,
): void {
  const names = {
    'x-ratatosk-role': NODE_ROLE,
    'x-ratatosk-network': NETWORK,
    'x-ratatosk-version': nodeVersion(),
    ...(sequencer && { 'x-ratatosk-operator': sequencer.operatorKey }),
  }
  server.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url === '/health/ready') reply.headers(names)
    done()
  })
}

/** The pages for a browser, if this node serves them. */
const links = [
  ['/docs', 'all endpoints, with examples'],
  ['/openapi.json', 'the same for programs'],
  ['/health/ready', 'whether the node is ready'],
  ['/network', 'the network and its parameters'],
  ['/stateQueue', 'the blocks that wait on layer 1'],
  ['/l2/blockfrost/api/v0/blocks/latest', 'layer 2 by the API of Blockfrost, under /l2/blockfrost/api/v0'],
  ['/l2/kupo/health', 'layer 2 by the API of Kupo, under /l2/kupo'],
  ['/l2/ogmios/health', 'layer 2 by the API of Ogmios, under /l2/ogmios'],
] as const

function pageOf(server: FastifyInstance): string {
  const served = links.filter(([url]) => server.hasRoute({ method: 'GET', url }))
  const items = served.map(([url, text]) => `<li><a href="${url}">${url}</a>: ${text}</li>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Ratatosk node</title>
<h1>Ratatosk node</h1>
<p>This is the HTTP API of an optimistic rollup on Cardano.
<a href="https://github.com/ratatosk-l2/ratatosk#readme">The README</a> explains it.</p>
<ul>
${items.join('\n')}
</ul>
</html>
`
}

/** Shows a browser at `/` the console, or a list of services. API clients get the 404 of unknown paths. */
export function landingPage(server: FastifyInstance): void {
  let page = ''
  let hasConsole = false
  server.addHook('onReady', (done) => {
    hasConsole = server.hasRoute({ method: 'GET', url: '/console' })
    page = pageOf(server)
    done()
  })
  server.get('/', { exposeHeadRoute: false, config: sameOriginOnly }, (request, reply) => {
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.callNotFound()
    // Relative, because a proxy may serve the node under a path.
    if (hasConsole) return reply.header('vary', 'accept').redirect('console')
    return reply
      .type('text/html; charset=utf-8')
      .header('vary', 'accept')
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
      .send(page)
  })
}

/** Milliseconds over which the event loop's delay is averaged: a few long turns are no overload. */
const sampleMs = 3000
/** How long a request waits for Redis to count it, in milliseconds; then it is served. */
const countTimeoutMs = 500

/** One server claims for many clients, whom the claims limit. */
const faucetPath = '/faucet/claims'

type LoadSettings = Pick<Settings, 'MAX_EVENT_LOOP_DELAY_MS' | 'QUEUE_PREFIX' | 'RATE_LIMIT' | 'REDIS_URL'>

/** Refuses requests under overload or of a busy address, except to `servedUnderLoad` routes. */
export async function limitLoad(server: FastifyInstance, settings: LoadSettings): Promise<void> {
  const { MAX_EVENT_LOOP_DELAY_MS, RATE_LIMIT } = settings
  if (MAX_EVENT_LOOP_DELAY_MS > 0) await refuseUnderPressure(server, MAX_EVENT_LOOP_DELAY_MS)
  if (RATE_LIMIT > 0) await limitRate(server, settings)
}

async function refuseUnderPressure(server: FastifyInstance, maxEventLoopDelay: number): Promise<void> {
  const report = refusalLog(server.log, 'Overloaded: requests are refused')
  await server.register(underPressure, {
    maxEventLoopDelay,
    sampleInterval: sampleMs,
    pressureHandler: (_request, reply, type) => {
      report(type)
      const error = new OverloadedError()
      // Set here, because the handlers of the layer-1 APIs set no headers of errors.
      reply.headers({ ...error.headers })
      throw error
    },
  })
}

async function limitRate(server: FastifyInstance, settings: LoadSettings): Promise<void> {
  const redis = openCounters(server, settings)
  server.addHook('onRoute', (route) => {
    const { config = {}, url } = route
    if (isServedUnderLoad(config) || url === faucetPath) route.config = { ...config, rateLimit: false }
  })
  await server.register(rateLimit, {
    max: settings.RATE_LIMIT,
    timeWindow: 60_000,
    ...(redis && { redis, nameSpace: `${settings.QUEUE_PREFIX}:rate:`, skipOnError: true }),
    errorResponseBuilder: (_request, { ttl }) => new RateLimitError(Math.max(1, Math.ceil(ttl / 1000))),
  })
}

/** A connection of its own, which does not wait for Redis: without it, requests are not limited. */
function openCounters(
  server: FastifyInstance,
  { REDIS_URL }: Pick<Settings, 'REDIS_URL'>,
): Redis | undefined {
  if (REDIS_URL === undefined) return undefined
  const redis = new Redis(REDIS_URL, {
    commandTimeout: countTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  })
  const report = refusalLog(server.log, 'Redis counts no requests: they are not limited')
  redis.on('error', () => report('failed'))
  server.addHook('onClose', async () => redis.disconnect())
  return redis
}
