import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isExposed } from './errors.js'
import { notFoundHandler } from './not-found.js'
import type { ErrorBody } from './schemas.js'

const internalError: ErrorBody = { error: 'Something went wrong' }

/**
 * Turns any error into `{ "error": string }`, for `fastify.setErrorHandler`.
 *
 * | what was thrown | answer |
 * | --- | --- |
 * | an {@link HttpError}, or any error with `expose: true` and a `statusCode` | its status, its message, its `bodyFields` |
 * | an error of Fastify below 500 (parser, body limit, media type, validation) | its status, its message |
 * | an error of Fastify above 500 (time-out, overload) | its status, the status's name |
 * | a request that the client broke off: in its body, or what a port that was given `request.signal` ends with | 400 |
 * | anything else, whatever `statusCode` it carries | 500 `Something went wrong` |
 *
 * From 500 on, the error goes to the request's log with its cause; below, at level `debug`.
 * A path that is not served stays a 404, however broken the body sent to it.
 *
 * @example
 * ```ts
 * fastify.setErrorHandler(errorHandler)
 * ```
 */
export function errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.is404 && isOfFramework(error) && error.statusCode < 500) return notFoundHandler(request, reply)
  return answerError(error, request, reply)
}

/**
 * Answers what fails before a route is chosen, such as a malformed URL: Fastify's option `frameworkErrors`.
 */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, body } = answerTo(error, request)
  if (statusCode >= 500) request.log.error({ err: error }, body.error)
  else request.log.debug({ err: error }, body.error)
  return reply.code(statusCode).send(body)
}

function answerTo(error: unknown, request: FastifyRequest): { statusCode: number; body: ErrorBody } {
  if (isExposed(error)) {
    return { statusCode: error.statusCode, body: { ...error.bodyFields, error: error.message } }
  }
  if (isOfFramework(error) && error.statusCode !== 500) {
    const { statusCode, message } = error
    return { statusCode, body: { error: statusCode < 500 ? message : (STATUS_CODES[statusCode] ?? message) } }
  }
  if (error instanceof Error && (error === request.raw.errored || error === abortReason(request)))
    return { statusCode: 400, body: { error: 'Request aborted' } }
  return { statusCode: 500, body: internalError }
}

/** What a call that was given the request's signal rejects with once the client is gone. */
function abortReason({ signal }: FastifyRequest): unknown {
  return signal?.aborted ? signal.reason : undefined
}

/** Fastify and its plugins name their errors `FST_…`; no other error's status is believed. */
function isOfFramework(error: unknown): error is Error & { statusCode: number } {
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
