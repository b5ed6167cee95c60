import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NotFoundBody } from './schemas.js'

const notFound: NotFoundBody = { error: 'Not Found', code: 'DISABLED' }

/**
 * Answers 404 `{"error":"Not Found","code":"DISABLED"}`, for `fastify.setNotFoundHandler`: the same bytes for an
 * unknown path, an unserved method and a part that is switched off.
 */
export function notFoundHandler(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send(notFound)
}
