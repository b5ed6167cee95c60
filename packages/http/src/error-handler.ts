import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ExposedError, type HttpErrorOptions, hasCode, isHttpError } from './errors.js'
import { retryAfterMsOf } from './headers.js'
import type { ErrorBody, NotFoundBody } from './schemas.js'

const internalError: ErrorBody = { error: 'Something went wrong' }
const notFound: NotFoundBody = { error: 'Not Found', code: 'DISABLED' }

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
 * | anything else, whatever `statusCode` it carries | 500 `Something went wrong` |
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
  return answerError(error, request, reply)
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
  const { statusCode, body, headers, quiet = false } = answerTo(error, request)
  if (statusCode < 500 || quiet) request.log.debug({ err: error }, body.error)
  else if (isRefusal(error)) request.log.warn(fieldsOf(error), body.error)
  else request.log.error({ err: error }, body.error)
  if (headers) reply.headers(headers)
  return reply.code(statusCode).send(body)
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
  return reply.code(404).send(notFound)
}

function answerTo(error: unknown, request: FastifyRequest): Answer {
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
  return { statusCode: 500, body: internalError }
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
