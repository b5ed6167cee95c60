import type { FastifySchema } from 'fastify'

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
