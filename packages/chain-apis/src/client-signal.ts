import type { FastifyReply } from 'fastify'

export interface ConnectedClient {
  /** Aborted when the client has left, or will read nothing more of the answer. */
  readonly signal: AbortSignal
  /** Closes the connection at once, so that what was sent is no whole answer. */
  disconnect(): void
}

export function clientOf(reply: FastifyReply): ConnectedClient {
  return { signal: clientSignal(reply), disconnect: () => reply.raw.destroy() }
}

/**
 * A signal that is aborted when the client leaves or its answer is complete. Fastify's `request.signal` is
 * aborted, or never will be, once the body of the request has been read.
 */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  if (raw.closed) left.abort()
  else raw.once('close', () => left.abort())
  return left.signal
}
