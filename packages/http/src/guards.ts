import { createHash, timingSafeEqual } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import type {
  FastifyContextConfig,
  FastifyRequest,
  FastifySchema,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify'
import { CrossSiteError, HostNotAllowedError, NavigationError, UnauthorizedError } from './errors.js'

/** Servers listen on these addresses, but a request that is addressed to one was made up by a page. */
const unspecified = ['0.0.0.0', '[::]']

/** The hooks that refuse requests. */
const guards = new WeakSet<onRequestHookHandler>()

function guard(hook: onRequestHookHandler): onRequestHookHandler {
  guards.add(hook)
  return hook
}

/** An `onRoute` hook: guards run after hooks that a host has added to the route, such as a rate limit. */
export function guardLast(route: RouteOptions): void {
  const hooks = [route.onRequest ?? []].flat()
  const own = hooks.filter((hook) => guards.has(hook))
  if (own.length > 0) route.onRequest = [...hooks.filter((hook) => !guards.has(hook)), ...own]
}

/** How an operator's routes are protected. */
export interface OperatorAccess {
  /**
   * Host names or IP addresses, without port, by which clients may address the server. Loopback (`localhost`,
   * 127.0.0.0/8, `::1`) is always allowed; the unspecified addresses `0.0.0.0` and `::` never are. Default:
   * none.
   */
  readonly allowedHosts?: readonly string[]
  /**
   * The token that requests must send as `Authorization: Bearer`. Default: requests are not authenticated.
   */
  readonly operatorToken?: string
}

/**
 * `onRequest` hooks for routes that only an operator may call, in this order: {@link noStore},
 * {@link refuseForeignPages} and, if a token is set, {@link bearerToken}.
 *
 * @throws {TypeError} for an empty token or a malformed host name
 *
 * @example
 * ```ts
 * fastify.get('/logGlobals', { onRequest: operatorGuards({ operatorToken: 'secret' }) }, handler)
 * ```
 */
export function operatorGuards({ allowedHosts, operatorToken }: OperatorAccess): onRequestHookHandler[] {
  const guards = [noStore, refuseForeignPages(allowedHosts)]
  return operatorToken === undefined ? guards : [...guards, bearerToken(operatorToken)]
}

/**
 * Config of a route that no web page of another origin may read, even if the server allows the origin:
 * `@fastify/cors` skips it.
 *
 * @example
 * ```ts
 * fastify.post('/claims', { onRequest: bearerToken('secret'), config: sameOriginOnly }, handler)
 * ```
 */
export const sameOriginOnly: FastifyContextConfig & { readonly cors: false } = { cors: false }

/**
 * Config of a route that is served whatever the load of the server: `@fastify/under-pressure` skips it,
 * and it does not wait for connections that arrive.
 *
 * @example
 * ```ts
 * fastify.get('/health/live', { config: servedUnderLoad }, handler)
 * ```
 */
export const servedUnderLoad: FastifyContextConfig & { readonly pressureHandler: () => void } = {
  pressureHandler: () => undefined,
}

/** Whether the config of a route is {@link servedUnderLoad}, or holds it. */
export function isServedUnderLoad(config: object): boolean {
  return 'pressureHandler' in config && config.pressureHandler === servedUnderLoad.pressureHandler
}

/** Route options of {@link operatorRoute}. */
export interface OperatorRoute {
  onRequest: onRequestHookHandler[]
  config: typeof sameOriginOnly & typeof servedUnderLoad & Partial<Pick<RouteSecurity, 'security'>>
}

/**
 * Route options of a route that only an operator may call: {@link operatorGuards}, {@link sameOriginOnly} and
 * {@link servedUnderLoad}.
 * With a token, the config is also {@link securedBy} `operatorToken`.
 *
 * @throws {TypeError} for an empty token or a malformed host name
 *
 * @example
 * ```ts
 * fastify.get('/logGlobals', { ...operatorRoute({ operatorToken: 'secret' }), schema }, handler)
 * ```
 */
export function operatorRoute(access: OperatorAccess = {}): OperatorRoute {
  const secured = access.operatorToken === undefined ? {} : securedBy('operatorToken')
  return { onRequest: operatorGuards(access), config: { ...sameOriginOnly, ...servedUnderLoad, ...secured } }
}

/**
 * Route options of a GET that changes state: {@link operatorRoute}, no HEAD, and no navigation of a browser,
 * which sends `Sec-Fetch-Mode: navigate`. A link in a mail would otherwise do what it names, because
 * `Sec-Fetch-Site` is then `none`. Programs send neither.
 *
 * @throws {TypeError} for an empty token or a malformed host name
 *
 * @example
 * ```ts
 * fastify.get('/reset', { ...sideEffectingGet({ operatorToken: 'secret' }), schema }, () => node.reset())
 * ```
 */
export function sideEffectingGet(access: OperatorAccess = {}): OperatorRoute & { exposeHeadRoute: false } {
  const { onRequest, config } = operatorRoute(access)
  return { exposeHeadRoute: false, onRequest: [...onRequest, refuseNavigation], config }
}

const refuseNavigation = guard(({ headers }, _reply, done) => {
  if (String(headers['sec-fetch-mode']).toLowerCase() === 'navigate') done(new NavigationError())
  else done()
})

/** `onRequest` hook for answers that change between requests: none may be stored, errors included. */
export const noStore: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

/**
 * `onRequest` hook that keeps web pages from operating the server through the browser of a person who can
 * reach it. It answers 403 unless all of these hold:
 *
 * - The request is addressed to loopback or to one of `allowedHosts`. In DNS rebinding a page points its own
 *   name at this server, and the browser sends that name. Behind a trusted proxy, `X-Forwarded-Host` must be
 *   allowed too.
 * - `Sec-Fetch-Site` (W3C Fetch Metadata) is neither `cross-site` nor `same-site`.
 * - `Origin`, or else `Referer`, is this server's own origin. `Origin: null` is not.
 * - If a browser sends none of the three, as some do over plain HTTP, the request is refused as well: it may
 *   come from any page. Browsers are recognised by a `User-Agent` that begins with `Mozilla/`.
 *
 * Other clients, such as curl, send none of these headers but `Host`.
 *
 * @param allowedHosts host names or IP addresses, without port
 * @throws {TypeError} for an entry that is not a plain host name or IP address
 *
 * @example
 * ```ts
 * fastify.get('/reset', { onRequest: refuseForeignPages(['node.example']) }, handler)
 * ```
 */
export function refuseForeignPages(allowedHosts: readonly string[] = []): onRequestHookHandler {
  if (!Array.isArray(allowedHosts)) throw new TypeError('allowedHosts must be an array of host names')
  const allowed = new Set(allowedHosts.map(configuredHost).filter((host) => !unspecified.includes(host)))
  const isAllowed = (host: string | undefined) => {
    const name = urlOfHost(host)?.hostname
    return name !== undefined && (isLoopback(name) || allowed.has(name))
  }
  return guard((request, _reply, done) => {
    if (!isAllowed(addressed(request)) || !isAllowed(request.host)) done(new HostNotAllowedError())
    else if (isForeign(request)) done(new CrossSiteError())
    else done()
  })
}

/** A bearer token that clients can send in a header. */
export const tokenPattern = /^[!-~](?:[ -~]*[!-~])?$/
/** The texts that {@link tokenPattern} accepts, in words. */
export const tokenRule = 'a text of ASCII characters that is not empty, and has no space around it'

/**
 * `onRequest` hook that accepts requests with `Authorization: Bearer <expected>` and answers all others 401
 * `{"error":"Unauthorized"}` with `WWW-Authenticate: Bearer`. As an `onRequest` hook it runs before the body
 * is read, so that an unauthorised client learns nothing from how a body is refused.
 *
 * The time it takes reveals neither how much of a token is right nor how long the right one is: hashes are
 * compared, in constant time.
 *
 * @param expected the token, in ASCII, without white space around it
 * @throws {TypeError} for an empty token, or one that clients cannot send
 *
 * @example
 * ```ts
 * fastify.post('/claims', { onRequest: bearerToken(token) }, handler)
 * ```
 */
export function bearerToken(expected: string): onRequestHookHandler {
  if (typeof expected !== 'string' || !tokenPattern.test(expected))
    throw new TypeError(`a bearer token must be ${tokenRule}`)
  const right = digest(Buffer.from(expected, 'latin1'))
  return guard((request, reply, done) => {
    const [, given] = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '') ?? []
    if (given !== undefined && timingSafeEqual(digest(Buffer.from(given, 'latin1')), right)) {
      done()
      return
    }
    reply.header('www-authenticate', 'Bearer')
    done(new UnauthorizedError())
  })
}

/** The host that a request itself names; HTTP/2 has a pseudo-header for it (RFC 9113, section 8.3.1). */
const addressed = ({ headers }: FastifyRequest): string | undefined =>
  headers.host ?? (headers[':authority'] as string | undefined)

/** Whether a page of another origin may have caused the request. */
function isForeign({ headers, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && !['same-origin', 'none'].includes(String(site).toLowerCase())) return true
  const page = headers.origin ?? headers.referer
  if (page !== undefined) return !isOwn(page, host)
  return site === undefined && /^mozilla\//i.test(headers['user-agent'] ?? '')
}

/** Whether a page's URL has the host and the port of a `Host` header. */
function isOwn(page: string, host: string): boolean {
  if (!URL.canParse(page)) return false
  const { protocol, host: pageHost } = new URL(page)
  // Behind a proxy that terminates TLS, the page is https and the request is http.
  return ['http:', 'https:'].includes(protocol) && pageHost === urlOfHost(host)?.host
}

/** A `Host` header as a URL, which normalises case and IP addresses; undefined if malformed. */
function urlOfHost(host: string | undefined): URL | undefined {
  const url = `http://${host}`
  return host !== undefined && /^[\w.:[\]-]+$/.test(host) && URL.canParse(url) ? new URL(url) : undefined
}

/** @param hostname as URL normalises it: IPv6 compressed and in brackets */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
}

/** Whether a text is a host name or an IP address, without port. */
export function isHostName(text: string): boolean {
  return hostNameOf(text) !== undefined
}

function configuredHost(host: string): string {
  const name = hostNameOf(host)
  if (name === undefined) throw new TypeError(`not a host name or IP address without port: ${host}`)
  return name
}

/** A host name as URL normalises it; undefined if it is malformed, or has a port. */
function hostNameOf(host: string): string | undefined {
  const bracketed = isIPv6(host) ? `[${host}]` : host
  return bracketed.replace(/^\[.*\]$/, '').includes(':') ? undefined : urlOfHost(bracketed)?.hostname
}

function digest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

const bearer = { type: 'http', scheme: 'bearer' } as const

/** The arguments of a transform of `@fastify/swagger` that are read or changed here. */
interface Described {
  readonly schema: FastifySchema
  readonly url: string
  /** Absent for a document of Swagger 2.0. */
  readonly openapiObject?: { components?: object }
}

/** Which tokens a route asks for, by their names in an OpenAPI document; for the `config` of the route. */
export interface RouteSecurity {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  /** Read by any `@fastify/swagger`, for this route in place of its option `transform`. */
  readonly swaggerTransform: (described: Described) => { schema: FastifySchema; url: string }
}

/**
 * The `config` of a route that asks for a bearer token. Any OpenAPI document that has the route says so, and
 * has the token as a security scheme of this name.
 *
 * @example
 * ```ts
 * fastify.get('/nuts', { config: securedBy('shopToken'), onRequest: bearerToken('secret') }, handler)
 * ```
 */
export function securedBy(token: string): RouteSecurity {
  const security = [{ [token]: [] }]
  return {
    security,
    swaggerTransform: ({ schema, url, openapiObject }) => {
      if (openapiObject === undefined) return { schema, url }
      const { securitySchemes, ...others }: { securitySchemes?: object } = openapiObject.components ?? {}
      openapiObject.components = { ...others, securitySchemes: { [token]: bearer, ...securitySchemes } }
      return { schema: { ...schema, security } as FastifySchema, url }
    },
  }
}
