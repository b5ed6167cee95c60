import type { FastifyReply } from 'fastify'

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
