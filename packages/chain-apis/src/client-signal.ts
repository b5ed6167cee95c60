import type { FastifyReply } from 'fastify'

/**
 * A signal that is aborted when the client leaves before its answer is complete. Fastify's `request.signal`
 * is aborted, or never will be, once the body of the request has been read.
 */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) left.abort()
  })
  return left.signal
}
