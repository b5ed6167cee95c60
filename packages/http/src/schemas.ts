import { type TLiteral, type TObject, type TSchema, type TString, Type } from '@sinclair/typebox'

/** Body of an error response: what went wrong, in words. */
export interface ErrorBody {
  error: string
}

/**
 * Schema of an {@link ErrorBody}.
 *
 * @param description when the response is sent
 * @param headers documented response headers, by name: a JSON schema each
 */
export function errorBody(
  description: string,
  headers?: Readonly<Record<string, object>>,
): TObject<{ error: TString }> {
  return Type.Object(
    { error: Type.String({ description: 'What went wrong, for people' }) },
    { title: 'Error', description, ...(headers && { headers }) },
  )
}

/** Documents `Retry-After` in {@link errorBody}. */
export const retryAfterHeader = {
  'Retry-After': { type: 'integer', minimum: 1, description: 'Seconds until the request may be repeated' },
} as const

/**
 * Schema of the body of a 503 because a limit is reached.
 *
 * @param limit the limit, other than the number of connections
 */
export function busyBody(limit?: string): TObject<{ error: TString }> {
  const limits = [
    'too many clients are connected',
    'the node is overloaded',
    ...(limit === undefined ? [] : [limit]),
  ]
  return errorBody(`A limit is reached: ${limits.join(', or ')}. Retry later`, retryAfterHeader)
}

/** The `response` schemas of a request that does not arrive, on every route: too slow, headers too large. */
export function arrivalResponses() {
  return {
    408: errorBody('The request did not arrive in time'),
    431: errorBody('The headers of the request are too large'),
  }
}

/** The `response` schemas that the limits of a server cause on a route with {@link servedUnderLoad}. */
export function connectionResponses() {
  return { ...arrivalResponses(), 503: busyBody() }
}

/**
 * The `response` schemas that the limits of a server cause on every other route: {@link arrivalResponses},
 * the rate limit and {@link busyBody}. A route whose 503 has another body as well overrides it with
 * {@link orBusy}.
 *
 * @example
 * ```ts
 * const schema = { response: { ...limitResponses(), 200: Answer } }
 * ```
 */
export function limitResponses() {
  const tooMany = 'The client sent more requests than the node allows. Retry later'
  return { ...connectionResponses(), 429: errorBody(tooMany, retryAfterHeader) }
}

/**
 * The `response` schemas of a path with parameters: Fastify refuses one that is longer than `maxParamLength`.
 */
export function pathResponses() {
  return { 414: errorBody('A part of the path is too long') }
}

/**
 * The `response` schemas of a body that does not fit the route: not well formed, too large, of another type.
 */
export function bodyResponses() {
  return {
    400: errorBody('The body is not well formed'),
    413: errorBody('The body is too large'),
    415: errorBody('The content type is not supported'),
  }
}

/**
 * Schema of a 503 that has a body of its own or, because the server has too many connections, that of
 * {@link busyBody}.
 */
export function orBusy<Own extends TSchema>(own: Own) {
  return Type.Union([own, busyBody()], {
    description:
      `${own.description ?? own.title}; or, with Retry-After, too many clients are connected or the node ` +
      'is overloaded',
    headers: retryAfterHeader,
  })
}

/** Schema of the 500 that reveals nothing: the cause is in the server's log, under the id of the request. */
export function internalErrorBody(): TObject<{ error: TString }> {
  return errorBody('Something went wrong. The cause is in the log of the server')
}

/** Schema of the body of a 401. */
export function unauthorizedBody(): TObject<{ error: TString }> {
  return errorBody('The bearer token is missing or wrong', {
    'WWW-Authenticate': { type: 'string', description: 'Bearer' },
  })
}

/** Schema of the body of a 403. */
export function forbiddenBody(): TObject<{ error: TString }> {
  return errorBody('A web page of another origin sent the request, or its Host header is not allowed')
}

/**
 * Body of the response to anything that this server does not serve: unknown path, other method, disabled
 * feature.
 */
export interface NotFoundBody {
  error: 'Not Found'
  code: 'DISABLED'
}

/** Schema of a {@link NotFoundBody}. */
export const notFoundBody: TObject<{ error: TLiteral<'Not Found'>; code: TLiteral<'DISABLED'> }> =
  Type.Object(
    { error: Type.Literal('Not Found'), code: Type.Literal('DISABLED') },
    { title: 'NotFound', description: 'Not served by this node' },
  )
