import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

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
