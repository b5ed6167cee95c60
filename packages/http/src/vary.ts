import type { FastifyReply } from 'fastify'

/**
 * Adds a request header to the response's `Vary`, and keeps what other hooks and plugins have put there.
 *
 * @example
 * ```ts
 * addVary(reply, 'accept').send(answer)
 * ```
 */
export function addVary(reply: FastifyReply, field: string): FastifyReply {
  const fields = [reply.getHeader('vary') ?? []].flat().join(', ')
  const has = fields
    .split(/\s*,\s*/)
    .some((each) => each === '*' || each.toLowerCase() === field.toLowerCase())
  return has ? reply : reply.header('vary', fields === '' ? field : `${fields}, ${field}`)
}
