import '@fastify/swagger'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { entityTag, hasEntityTag } from '../index.js'
import { nameComponents } from './components.js'

export { nameComponents } from './components.js'

const name = '@ratatosk/http/openapi'

/** Nothing from elsewhere; Swagger UI sets styles of elements. */
const contentSecurityPolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'font-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
}

/** Options of {@link docs}. */
export interface DocsOptions {
  readonly title: string
  /** Version of the API's description. */
  readonly version: string
  /** A description of the server, as Markdown. */
  readonly description: string
  readonly license?: { readonly name: string; readonly identifier: string }
  readonly contact?: { readonly name: string; readonly url: string }
  /** Groups of operations, in the order of the reference. Tags that no operation has are left out. */
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /**
   * Bearer tokens by the names that routes use in `config.security`; `description` says what the token is for
   * and where it comes from. Those that no operation uses are left out; those that only operations name have
   * no description.
   */
  readonly tokens?: Readonly<Record<string, { readonly description: string }>>
}

/** Where a route says how its clients authenticate; `operatorRoute` of `@ratatosk/http` does. */
interface SecuredConfig {
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

interface BearerScheme {
  readonly type: 'http'
  readonly scheme: 'bearer'
  readonly description?: string
}

interface Components {
  readonly securitySchemes: Record<string, BearerScheme>
}

const bearer = { type: 'http', scheme: 'bearer' } as const

type Operations = Record<string, Record<string, { tags?: string[]; security?: Record<string, string[]>[] }>>

/**
 * Fastify plugin that serves `GET /openapi.json`, the OpenAPI 3.1 document of every tagged route that is
 * registered after it, and `GET /docs`, a reference of them that loads nothing from elsewhere.
 *
 * Not encapsulated, and registered before the routes: it has to see them.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(docs, { title: 'Shop', version: '1.0.0', description: 'Sells nuts', tags: [] })
 * await server.register(routes)
 * ```
 */
export const docs = fp(
  async (fastify: FastifyInstance, options: DocsOptions) => {
    checkDocsOptions(options)
    const { title, version, description, license, contact } = options
    await fastify.register(swagger, {
      hideUntagged: true,
      openapi: {
        openapi: '3.1.0',
        info: {
          title,
          version,
          description,
          ...(contact && { contact: { ...contact } }),
          ...(license && { license: { ...license } }),
        },
        servers: [{ url: '/', description: 'The server that serves this document' }],
        security: [],
        components: { securitySchemes: schemesOf(options) },
      },
      transform: ({ schema, url, route, ...document }) => {
        const { security } = (route.config ?? {}) as SecuredConfig
        if (security === undefined || !('openapiObject' in document)) return { url, schema }
        const { securitySchemes } = document.openapiObject.components as Components
        for (const token of security.flatMap(Object.keys)) securitySchemes[token] ??= bearer
        return { url, schema: { ...schema, security } }
      },
      transformObject: (document) =>
        'openapiObject' in document
          ? complete(nameComponents(document.openapiObject), options)
          : document.swaggerObject,
    })
    await fastify.register(swaggerUi, {
      routePrefix: '/docs',
      // Relative, because a proxy may serve the node under a path.
      indexPrefix: '.',
      staticCSP: contentSecurityPolicy,
      // Without the address of the validator, which is on the internet, no badge is loaded.
      uiConfig: { validatorUrl: null, deepLinking: true },
      theme: { title },
    })

    let text: string | undefined
    fastify.get('/openapi.json', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
      text ??= `${JSON.stringify(fastify.swagger(), null, 2)}\n`
      const address = JSON.stringify(addressOf(request))
      const body = text.replace('"url": "/"', () => `"url": ${address}`)
      const etag = entityTag(body)
      reply.headers({ etag, 'cache-control': 'no-cache' })
      if (hasEntityTag(request, etag)) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(body)
    })
  },
  { name, fastify: '5.x' },
)

export default docs

function checkDocsOptions(options: DocsOptions): void {
  for (const option of ['title', 'version', 'description'] as const) {
    if (typeof options[option] !== 'string') throw new TypeError(`${name}: ${option} must be a string`)
  }
  if (!Array.isArray(options.tags)) throw new TypeError(`${name}: tags must be an array`)
}

function schemesOf({ tokens = {} }: DocsOptions): Record<string, BearerScheme> {
  const schemes = Object.entries(tokens).map(([name, { description }]): [string, BearerScheme] => [
    name,
    { ...bearer, description },
  ])
  return Object.fromEntries(schemes)
}

/** Adds the tags that operations use, and drops the security schemes that none uses. */
function complete<Document extends object>(document: Document, options: DocsOptions): Document {
  const { paths, components } = document as { paths: Operations; components: Components }
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const usedTags = new Set(operations.flatMap(({ tags = [] }) => tags))
  const usedTokens = new Set(operations.flatMap(({ security = [] }) => security.flatMap(Object.keys)))
  const schemes = Object.entries(components.securitySchemes).filter(([name]) => usedTokens.has(name))
  return {
    ...document,
    tags: options.tags.filter(({ name }) => usedTags.has(name)),
    components: { ...components, securitySchemes: Object.fromEntries(schemes) },
  }
}

/** The address that a request was sent to; relative if its `Host` header is no host name with a port. */
function addressOf({ protocol, host }: FastifyRequest): string {
  return /^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}` : '/'
}
