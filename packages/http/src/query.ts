import type { FastifySchemaCompiler } from 'fastify'
import { HttpError, isHttpError } from './errors.js'

/** A query parameter: missing, given once, or given several times. */
export type QueryValue = string | readonly string[] | undefined

/** The parameters of a request by name. */
export type Query = Readonly<Record<string, QueryValue>>

/**
 * 400: a parameter breaks its rule. The message repeats the value: `undefined` if it is missing, joined by
 * commas if it is given several times.
 *
 * @example
 * ```ts
 * throw new InvalidParameterError('SHOP', 'limit', query.limit) // SHOP_INVALID_PARAMETER, Invalid limit: -1
 * ```
 */
export class InvalidParameterError extends HttpError {
  /**
   * @param prefix start of the error's code, such as `TX_QUERY`
   * @param what name of the parameter in the message
   * @param value as sent
   * @param rule a sentence that says what to send instead
   */
  constructor(prefix: string, what: string, value: QueryValue, rule?: string) {
    const printed = typeof value === 'object' ? value.join(',') : String(value)
    const message = `Invalid ${what}: ${printed}`
    super(400, `${prefix}_INVALID_PARAMETER`, rule === undefined ? message : `${message}. ${rule}`)
  }
}

/**
 * Refuses parameters that a route does not have: a misspelt one would be ignored.
 *
 * @param prefix as of {@link InvalidParameterError}, which it throws
 */
export function onlyParameters(prefix: string, query: Query, names: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const shown = unknown.length > maxShown ? `${unknown.slice(0, maxShown)}…` : unknown
  const rule = names.length === 0 ? 'Send none' : `Send only ${names.join(', ')}`
  throw new InvalidParameterError(prefix, 'parameter', shown, rule)
}

/** Characters of an unknown name that an answer repeats. */
const maxShown = 200

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
 *   if (!hash) throw new InvalidParameterError('SHOP', 'hash', query.hash)
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
