import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { retryAfterMsOf } from './answers.js'
import { type ExposedError, HttpError, type HttpErrorOptions, hasCode, isHttpError } from './errors.js'
import type { ErrorBody, NotFoundBody } from './schemas.js'

/** In the config of each route that {@link watchHandler} has seen. */
const watched = Symbol('watched')

/** Requests whose handler has begun. */
const begun = new WeakSet<FastifyRequest>()

/** An `onRoute` hook: {@link isBeforeHandler} knows the requests to the route. */
export function watchHandler(route: RouteOptions): void {
  const { config, handler } = route
  if (config !== undefined && watched in config) return
  route.config = Object.assign({ ...config }, { [watched]: true })
  route.handler = function handle(request, reply) {
    begun.add(request)
    return handler.call(this, request, reply)
  }
}

/** Whether the handler of a watched route has not begun: a hook, a parser or a schema raised an error. */
function isBeforeHandler(request: FastifyRequest): boolean {
  return watched in (request.routeOptions.config ?? {}) && !begun.has(request)
}

const internalError: ErrorBody = { error: 'Something went wrong' }
const notFound: NotFoundBody = { error: 'Not Found', code: 'DISABLED' }
const notServed = new HttpError(404, notFound.code, notFound.error)

type PageOf = (error: ExposedError) => string | undefined

/** Decorates a server with the function of {@link explainErrors}. */
const explanation = Symbol('explanation')

/**
 * Makes {@link errorHandler} name the page that explains an error, by a header `Link` (RFC 8288, `help`). For
 * a whole server, before its plugins.
 *
 * @param pageOf the address of the page; undefined if there is none
 *
 * @example
 * ```ts
 * explainErrors(server, () => 'https://shop.example/errors')
 * ```
 */
export function explainErrors(server: Pick<FastifyInstance, 'decorate'>, pageOf: PageOf): void {
  server.decorate(explanation, pageOf)
}

interface Answer extends Pick<HttpErrorOptions, 'headers' | 'quiet'> {
  readonly statusCode: number
  readonly body: ErrorBody
}

/**
 * Turns any error into `{ "error": string }`, for `fastify.setErrorHandler`.
 *
 * | thrown | response |
 * | --- | --- |
 * | an error with `expose: true` and a `statusCode`, such as {@link HttpError} | its status and message |
 * | a Fastify error below 500 (parser, body limit, media type, validation) | its status and message |
 * | a Fastify error above 500 (time-out, overload) | its status and the name of the status |
 * | an error because the client aborted the request | 400 |
 * | an error of a hook before the handler (rate limit) | as without this handler; no message from 500 on |
 * | anything else, whatever `statusCode` it carries | 500 `Something went wrong` |
 *
 * Errors of hooks are recognised on the routes of `openScope` and of `httpErrors`.
 *
 * An exposed error may have `bodyFields` and `headers`. Responses from 500 on are logged under the id of the
 * request: failures at `error` with their cause; refusals, which nothing has caused or whose cause asks to
 * come back later, at `warn` without a stack. The others and `quiet` errors are logged at `debug`. A path
 * that is not served stays a 404 even if its body does not parse.
 *
 * @example
 * ```ts
 * fastify.setErrorHandler(errorHandler)
 * ```
 */
export function errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.is404 && isFastifyError(error) && error.statusCode < 500) return notFoundHandler(request, reply)
  const refused = isBeforeHandler(request) ? refusalOfHook(error, reply) : undefined
  return send(answerTo(error, request, refused), error, request, reply)
}

/**
 * Answers errors that occur before a route is chosen, such as a malformed URL; for Fastify's option
 * `frameworkErrors`.
 *
 * @example
 * ```ts
 * const server = fastify({ frameworkErrors: answerError })
 * ```
 */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return send(answerTo(error, request), error, request, reply)
}

function send(answer: Answer, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, body, headers, quiet = false } = answer
  if (statusCode < 500 || quiet) request.log.debug({ err: error }, body.error)
  else if (isRefusal(error)) request.log.warn(fieldsOf(error), body.error)
  else request.log.error({ err: error }, body.error)
  if (headers) reply.headers(headers)
  if (isHttpError(error)) explain(error, reply)
  return reply.code(statusCode).send(body)
}

function explain(error: ExposedError, reply: FastifyReply): void {
  const server = reply.server as FastifyInstance & { readonly [explanation]?: PageOf }
  const page = server[explanation]?.(error)
  if (page !== undefined) reply.header('link', `<${page}>; rel="help"`)
}

/**
 * Answers 404 `{"error":"Not Found","code":"DISABLED"}`, for `fastify.setNotFoundHandler`: the same bytes for
 * an unknown path, an unserved method and a feature that is switched off.
 *
 * @example
 * ```ts
 * fastify.setNotFoundHandler(notFoundHandler)
 * ```
 */
export function notFoundHandler(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  explain(notServed, reply)
  return reply.code(404).send(notFound)
}

/** @param refused the answer to the error if it is none of this package, nor of Fastify */
function answerTo(error: unknown, request: FastifyRequest, refused?: Answer): Answer {
  if (isHttpError(error)) {
    const { statusCode, message, bodyFields, headers, quiet } = error
    const body = { ...bodyFields, error: message }
    return { statusCode, body, ...(headers && { headers }), ...(quiet && { quiet }) }
  }
  if (isFastifyError(error) && error.statusCode !== 500) {
    const { statusCode, message } = error
    return { statusCode, body: { error: statusCode < 500 ? message : (STATUS_CODES[statusCode] ?? message) } }
  }
  if (error instanceof Error && (error === request.raw.errored || isAbort(error, request)))
    return { statusCode: 400, body: { error: 'Request aborted' } }
  return refused ?? { statusCode: 500, body: internalError }
}

/** An answer with the status and the headers that Fastify itself takes from an error of a hook. */
function refusalOfHook(error: unknown, reply: FastifyReply): Answer | undefined {
  const { statusCode, status, headers, message }: HookError = Object(error)
  const chosen = [statusCode, status, reply.statusCode].find(
    (code) => Number(code) >= 400 && Number(code) <= 599,
  )
  if (chosen === undefined || chosen === 500) return undefined
  const name = STATUS_CODES[chosen] ?? 'Error'
  const text = chosen < 500 && typeof message === 'string' ? message : name
  return { statusCode: chosen, body: { error: text }, ...(headers && { headers }) }
}

/** A value that a hook throws, which need not be an `Error`. */
interface HookError extends Pick<HttpErrorOptions, 'headers'> {
  readonly statusCode?: number
  readonly status?: number
  readonly message?: unknown
}

/** Whether this server, or what it asked, has reached a limit: nothing failed. */
function isRefusal(error: unknown): error is ExposedError {
  return isHttpError(error) && (error.cause === undefined || retryAfterMsOf(error.cause) !== undefined)
}

function fieldsOf(refusal: ExposedError): object {
  const { cause } = refusal
  return {
    ...(hasCode(refusal, '') && { code: refusal.code }),
    ...(cause instanceof Error && { reason: cause.message }),
  }
}

/** Whether a call rejected because the client whose signal it received has disconnected. */
function isAbort(error: Error, { raw, signal }: FastifyRequest): boolean {
  return error.name === 'AbortError' && (raw.socket?.destroyed === true || signal?.aborted === true)
}

/** Fastify and its plugins prefix their codes with `FST_`; the status of any other error is not trusted. */
function isFastifyError(error: unknown): error is Error & { statusCode: number } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('FST_') &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode <= 599
  )
}
