import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Settings } from '../settings/schema.js'

/** Request headers of SDKs, which layer 2 ignores: Blockfrost's project id and Lucid Evolution's version. */
const sdkHeaders = ['project_id', 'lucid']

/** Of what a page may send and read beyond what every page may (Fetch standard, section 4.10). */
const requestHeaders = ['Content-Type', 'If-None-Match', 'Last-Event-ID', ...sdkHeaders]
const responseHeaders = ['ETag', 'Link', 'Retry-After', 'X-Request-Id']

/** How long a browser may remember the answer to a preflight request, in seconds. */
const preflightMaxAge = 600

/** Opens routes registered afterwards to pages of CORS_ORIGIN, except those with the config `cors: false`. */
export async function allowOrigins(
  server: FastifyInstance,
  { CORS_ORIGIN: origins }: Pick<Settings, 'CORS_ORIGIN'>,
): Promise<void> {
  if (origins === undefined) return
  const isAllowed = (origin: string) => origins.includes('*') || origins.includes(origin)

  /** The value of `Access-Control-Allow-Origin`; false if the response must not have one. */
  function allowedOrigin({ headers, is404, method, routeOptions }: FastifyRequest): string | false {
    if (headers.origin === undefined || !isAllowed(headers.origin)) return false
    // The plugin's own preflight route, which matches every path.
    if (is404 || routeOptions.url === '*') return false
    if (method === 'OPTIONS' && headers['access-control-request-method'] === undefined) return false
    return origins?.includes('*') ? '*' : headers.origin
  }

  await server.register(cors, {
    delegator: (request, done) =>
      done(null, {
        origin: allowedOrigin(request),
        allowedHeaders: requestHeaders,
        exposedHeaders: responseHeaders,
        maxAge: preflightMaxAge,
        preflightContinue: true,
      }),
  })

  const urls = new Set<string>()
  server.addHook('onRoute', ({ method, url, config }) => {
    const isClosed = config !== undefined && 'cors' in config && config.cors === false
    if (isClosed || urls.has(url) || !['GET', 'POST'].includes(String(method))) return
    urls.add(url)
    server.options(url, answerPreflight)
  })
}

/** Refuses WebSockets of unlisted origins (CORS_ORIGIN): browsers send no preflight request for them. */
export function refuseForeignSockets(
  server: FastifyInstance,
  { CORS_ORIGIN: origins = [] }: Pick<Settings, 'CORS_ORIGIN'>,
): void {
  server.addHook('onRequest', async ({ headers: { origin, host, upgrade } }, reply) => {
    if (upgrade?.toLowerCase() !== 'websocket') return
    if (origin === undefined || origins.includes('*') || origins.includes(origin)) return
    if (URL.canParse(origin) && new URL(origin).host === host) return
    return reply.code(403).send({ error: 'CORS_ORIGIN of this node does not list the origin of this page' })
  })
}

/** Answers a preflight request whose headers the plugin has set; any other OPTIONS like an unknown path. */
function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!reply.hasHeader('access-control-allow-origin')) {
    reply.callNotFound()
    return reply
  }
  // A page of a public site may call a node on this machine or network, if its browser asks first (Private
  // Network Access).
  if (request.headers['access-control-request-private-network'] === 'true') {
    reply.header('access-control-allow-private-network', 'true')
  }
  return reply.code(204).header('content-length', '0').send()
}
