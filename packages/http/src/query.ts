import type { FastifySchemaCompiler } from 'fastify'
import { isHttpError } from './errors.js'

/** A query parameter: missing, given once, or given several times. */
export type QueryValue = string | readonly string[] | undefined

/** The parameters of a request by name. */
export type Query = Readonly<Record<string, QueryValue>>

/**
 * A parameter as it appears in an error message: `undefined` if missing, joined by commas if given several
 * times.
 */
export function printed(value: QueryValue): string {
  return typeof value === 'object' ? value.join(',') : String(value)
}

/**
 * Decodes a parameter of exactly `length` bytes from hex of either case; `undefined` if it is anything else.
 */
export function hexParameter(value: QueryValue, length: number): Uint8Array | undefined {
  if (typeof value !== 'string' || value.length !== 2 * length || !/^[0-9a-f]+$/i.test(value))
    return undefined
  return Uint8Array.from(Buffer.from(value, 'hex'))
}

/** Decodes a parameter of decimal digits, which may exceed 2^53 - 1; `undefined` if it is anything else. */
export function decimalParameter(value: QueryValue): number | undefined {
  return typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : undefined
}

/**
 * A `validatorCompiler` for one route: `read` receives the query (or the body) as sent; the handler receives
 * what it returns; an {@link HttpError} that it throws becomes the response. The route's JSON schema then
 * only documents the route, so that Ajv neither coerces values nor answers with messages of its own.
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
      if (isHttpError(error)) return { error }
      throw error
    }
  }
}
