import type { FastifyReply } from 'fastify'

/**
 * A signal that is aborted when the client leaves before its answer is complete. Fastify's `request.signal`
 * follows the body of the request instead: it is aborted, or never will be, once the body has been read.
 *
 * @example
 * ```ts
 * fastify.post('/pay', async ({ body }, reply) => pay(body, clientSignal(reply)))
 * ```
 */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  const check = () => {
    if (!raw.writableFinished) left.abort()
  }
  if (raw.destroyed) check()
  else raw.once('close', check)
  return left.signal
}
