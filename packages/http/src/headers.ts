import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The entity tag of an answer with these bytes, in quotes (RFC 9110, section 8.8.3).
 *
 * @example
 * ```ts
 * const tag = entityTag(body)
 * if (hasEntityTag(request, tag)) return reply.code(304).send()
 * return reply.header('etag', tag).send(body)
 * ```
 */
export function entityTag(bytes: string | Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
}

/**
 * Whether the client has the answer with this tag: whether `If-None-Match` contains it, by weak comparison
 * (RFC 9110, section 13.1.2).
 */
export function hasEntityTag({ headers }: FastifyRequest, tag: string): boolean {
  const listed = headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? []
  return listed.includes(tag) || listed.includes('*')
}

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

/**
 * The milliseconds after which an error of a port says to try again: its `retryAfterMs`. Undefined if that is
 * not a positive number.
 */
export function retryAfterMsOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined
  const { retryAfterMs } = error
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : undefined
}

/** {@link retryAfterMsOf} in seconds, rounded up, as in the header `Retry-After`. */
export function retryAfterSeconds(error: unknown): number | undefined {
  const milliseconds = retryAfterMsOf(error)
  return milliseconds === undefined ? undefined : Math.ceil(milliseconds / 1000)
}
