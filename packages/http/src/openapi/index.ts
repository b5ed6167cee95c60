import { isDeepStrictEqual } from 'node:util'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import { checkedLater, checkOptions, entityTag, hasEntityTag, noteOperationIds } from '../index.js'

/** A JSON value of a document. */
type Json = unknown
type Fields = Record<string, Json>

/** Keywords that describe a schema and do not change what it accepts. */
const wording = ['description', 'examples'] as const

/**
 * Replaces every schema with a `title` by a reference to a component of that name. Equal schemas become one
 * component; their description stays if all agree. A schema that differs from the first of its title gets a
 * number behind its name. Components that the document has keep their names.
 *
 * @param document an OpenAPI 3.1 document; not changed
 * @returns a copy
 */
export function nameComponents<Document extends object>(document: Document): Document {
  const { paths, components = {}, ...rest } = document as Fields
  const { schemas: present = {}, ...others } = components as Fields
  const schemas = structuredClone(present) as Record<string, Fields>

  function componentOf(schema: Fields, title: string): string {
    const { title: _title, ...content } = schema
    for (let number = 1; ; number++) {
      const name = number === 1 ? title : `${title}${number}`
      const present = schemas[name]
      if (present === undefined) {
        schemas[name] = content
        return name
      }
      if (isDeepStrictEqual(without(present, wording), without(content, wording))) {
        for (const key of wording) if (!isDeepStrictEqual(present[key], content[key])) delete present[key]
        return name
      }
    }
  }

  function visit(value: Json, isSchema: boolean): Json {
    if (Array.isArray(value)) return value.map((item) => visit(item, isSchema))
    if (!isFields(value)) return value
    const copy: Fields = {}
    for (const [key, child] of Object.entries(value)) {
      // Headers belong to a response; in the part of a union they are no keyword.
      if (isSchema && key === 'headers') continue
      copy[key] = literal.has(key) ? child : visitChild(key, child, isSchema)
    }
    if (!isSchema || typeof copy.title !== 'string') return copy
    return { $ref: `#/components/schemas/${componentOf(copy, copy.title)}` }
  }

  function visitChild(key: string, child: Json, isSchema: boolean): Json {
    // The names of properties are not keywords.
    if (isSchema && key === 'properties' && isFields(child)) {
      return Object.fromEntries(Object.entries(child).map(([name, schema]) => [name, visit(schema, true)]))
    }
    return visit(child, isSchema || key === 'schema')
  }

  const named = visit(paths, false)
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)))
  return { ...rest, components: { ...others, schemas: sorted }, paths: named } as Document
}

/** Keywords whose values are data. */
const literal = new Set(['example', 'examples', 'default', 'enum', 'const', 'required'])

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function without(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)))
}

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
   * Bearer tokens by the names that routes give to `securedBy`; `description` says what the token is for and
   * where it comes from. Those that no operation uses are left out; those that only operations name have no
   * description.
   */
  readonly tokens?: Readonly<Record<string, { readonly description: string }>>
}

/** The parts of an OpenAPI document that are read or changed here. */
interface Document {
  readonly info: object
  readonly tags?: readonly { readonly name: string }[]
  readonly components: { readonly securitySchemes?: Readonly<Record<string, object>> }
  readonly paths: Record<string, Record<string, Operation>>
}

interface Operation {
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
}

const bearer = { type: 'http', scheme: 'bearer' } as const

const rules = {
  title: Type.String({ expected: 'a string' }),
  version: Type.String({ expected: 'a string' }),
  description: Type.String({ expected: 'a string' }),
  tags: Type.Array(Type.Unknown(), { expected: 'an array' }),
  license: checkedLater,
  contact: checkedLater,
  tokens: checkedLater,
}

/**
 * Fastify plugin that serves `GET /openapi.json`, the OpenAPI 3.1 document of every tagged route that is
 * registered after it, and `GET /docs`, a reference of them that loads nothing from elsewhere.
 *
 * Not encapsulated, and registered before the routes: it has to see them. On a server that has
 * `@fastify/swagger` already, it serves the document of that one, with the title, tags and tokens of its
 * options added.
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
    checkOptions(name, rules, options)
    noteOperationIds(fastify)
    const joins = fastify.hasDecorator('swagger')
    if (joins) fastify.addHook('onReady', async () => void openapiOf(fastify.swagger()))
    else await fastify.register(swagger, { hideUntagged: true, openapi: ownDocument(options) })
    let described: Document | undefined
    const document = () => {
      described ??= complete(nameComponents(openapiOf(fastify.swagger())), options)
      return described
    }

    // A scope of its own: a host may have decorators of `@fastify/swagger-ui`, too.
    await fastify.register(async (scope) =>
      scope.register(swaggerUi, {
        routePrefix: '/docs',
        // Relative, because a proxy may serve the node under a path.
        indexPrefix: '.',
        staticCSP: contentSecurityPolicy,
        transformSpecification: () => ({ ...document() }),
        transformSpecificationClone: false,
        // Without the address of the validator, which is on the internet, no badge is loaded.
        uiConfig: { validatorUrl: null, deepLinking: true },
        theme: { title: options.title },
      }),
    )

    let text: string | undefined
    fastify.get('/openapi.json', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
      text ??= `${JSON.stringify(document(), null, 2)}\n`
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

/** The document of a server that has none yet. */
function ownDocument(options: DocsOptions): NonNullable<FastifyDynamicSwaggerOptions['openapi']> {
  return {
    openapi: '3.1.0',
    info: infoOf(options),
    servers: [{ url: '/', description: 'The server that serves this document' }],
    security: [],
  }
}

function infoOf({ title, version, description, license, contact }: DocsOptions) {
  return {
    title,
    version,
    description,
    ...(contact && { contact: { ...contact } }),
    ...(license && { license: { ...license } }),
  }
}

/** @throws {TypeError} for a document of Swagger 2.0 */
function openapiOf(document: string | object): Document {
  if (typeof document === 'object' && 'openapi' in document) return document as unknown as Document
  throw new TypeError(`${name}: the @fastify/swagger of the server needs its option openapi`)
}

/** Adds title, tags and tokens, and drops the tokens that no operation uses. */
function complete(document: Document, options: DocsOptions): Document {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const usedTags = new Set(operations.flatMap(({ tags = [] }) => tags))
  const usedTokens = new Set(operations.flatMap(({ security = [] }) => security.flatMap(Object.keys)))
  const known = options.tags.filter(({ name }) => usedTags.has(name))
  const others = (document.tags ?? []).filter((tag) => !known.some(({ name }) => name === tag.name))
  const tokens = Object.entries(options.tokens ?? {})
    .filter(([token]) => usedTokens.has(token))
    .map(([token, { description }]) => [token, { ...bearer, description }] as const)
  const described = Object.fromEntries(tokens)
  const securitySchemes = { ...described, ...document.components.securitySchemes, ...described }
  return {
    ...document,
    info: { ...document.info, ...infoOf(options) },
    tags: [...known, ...others],
    components: { ...document.components, securitySchemes },
  }
}

/** The address that a request was sent to; relative if its `Host` header is no host name with a port. */
function addressOf({ protocol, host }: FastifyRequest): string {
  return /^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}` : '/'
}
