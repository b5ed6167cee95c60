import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * The chain cannot answer now, and the request may be repeated: status 503. A chain throws it, or any error
 * with its `name` and a message for the client.
 */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'
  readonly statusCode = 503
}

/** True for errors with a message for clients: {@link ChainUnavailableError}, or with `expose: true`. */
function isForClients(value: unknown): boolean {
  return isChainUnavailable(value) || (value instanceof Error && 'expose' in value && value.expose === true)
}

/** True for a {@link ChainUnavailableError}, also one thrown by another copy of this package. */
export function isChainUnavailable(value: unknown): value is ChainUnavailableError {
  return value instanceof Error && value.name === 'ChainUnavailableError'
}

/** A transaction has left the chain while an answer was read from it. */
export function undone(): ChainUnavailableError {
  return new ChainUnavailableError('A transaction of the answer has been undone. Ask again.')
}

/** Requests whose handler has begun. */
const begun = new WeakSet<FastifyRequest>()

/** Lets {@link refusalOf} know the errors of handlers of a scope. */
export function noteHandlers(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', (request, _reply, done) => {
    begun.add(request)
    done()
  })
}

interface Refusal {
  readonly status: number
  /** Absent if the error, which is logged, is not for clients. */
  readonly message?: string
}

/** The answer to an error. The status of one that a handler throws, as of a chain, is not trusted. */
export function refusalOf(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Refusal {
  if (isChainUnavailable(error)) {
    reply.header('retry-after', '1')
    return { status: 503, message: error.message }
  }
  const { statusCode: status = 500, message } = error
  if (isForClients(error)) return { status, message }
  const isOfHandler = begun.has(request)
  if (status < 500 && !isOfHandler) return { status, message }
  request.log.error(error)
  return { status: isOfHandler ? 500 : status }
}
