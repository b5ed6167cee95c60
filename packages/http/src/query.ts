import type { FastifySchemaCompiler } from 'fastify'
import { isExposed } from './errors.js'

/** A parameter as the router hands it over: missing, given once, or given several times. */
export type QueryValue = string | readonly string[] | undefined

/** The parameters of a request by name. */
export type Query = Readonly<Record<string, QueryValue>>

/** How a refused parameter stands in a message: `undefined` when missing, joined by commas when given several times. */
export function printed(value: QueryValue): string {
  return typeof value === 'object' ? value.join(',') : String(value)
}

/** The bytes of a parameter of exactly `length` bytes in hex of either case; `undefined` when it is anything else. */
export function hexParameter(value: QueryValue, length: number): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length !== 2 * length || !/^[0-9a-f]+$/i.test(value))
    return undefined
  return Uint8Array.from(Buffer.from(value, 'hex'))
}

/** The number written in decimal digits and nothing else; `undefined` when it is anything else. */
export function decimalParameter(value: QueryValue): number | undefined {
  return typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : undefined
}

/**
 * Lets one function read a part of the request (query or body), as the route's `validatorCompiler`: what it returns is
 * what the handler sees, an {@link HttpError} that it throws is the answer. The route's JSON schema then serves the
 * OpenAPI document only, so that Ajv neither coerces a value nor answers before the exact message does.
 *
 * @example
 * ```ts
 * const readHash = (query: Query) => {
 *   const hash = hexParameter(query.hash, 32)
 *   if (!hash) throw new HttpError(400, 'HASH_INVALID', `Invalid hash: ${printed(query.hash)}`)
 *   return { hash }
 * }
 * fastify.get<{ Querystring: { hash: Uint8Array } }>(
 *   '/thing',
 *   { schema: { querystring: ThingQuery }, validatorCompiler: readBy(readHash) },
 *   (request) => things.get(request.query.hash),
 * )
 * ```
 */
export function readBy<Part, Result>(read: (part: Part) => Result): FastifySchemaCompiler<unknown> {
  return () => (part: Part) => {
    try {
      return { value: read(part) }
    } catch (error) {
      if (isExposed(error)) return { error }
      throw error
    }
  }
}
