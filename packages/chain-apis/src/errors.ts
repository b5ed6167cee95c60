import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/**
 * The chain cannot answer now, and the request may be repeated: status 503. A chain throws it, or any error
 * with its `name` and a message for the client.
 */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'
  readonly statusCode = 503
}

/** An API refuses the request: status and message are for the client. */
export abstract class RefusalError extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message)
  }
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

/** The answer to an error. One of a chain decides neither status nor message, whatever fields it has. */
export function refusalOf(
  error: FastifyError & { readonly expose?: unknown },
  request: FastifyRequest,
  reply: FastifyReply,
): Refusal {
  if (isChainUnavailable(error)) {
    reply.header('retry-after', '1')
    return { status: 503, message: error.message }
  }
  const { statusCode: status = 500, message, expose } = error
  const isOfHandler = begun.has(request)
  const isForClients = error instanceof RefusalError || (!isOfHandler && (status < 500 || expose === true))
  if (isForClients) return { status, message }
  request.log.error(error)
  return { status: isOfHandler ? 500 : status }
}
