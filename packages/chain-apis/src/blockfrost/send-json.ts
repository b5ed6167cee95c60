import type { FastifyReply } from 'fastify'
import { encodeJsonParts } from '../json.js'
import { bodyOf } from '../read-ahead.js'

/** Answers JSON that may be long: other work takes its turn while it is encoded. */
export async function sendJson(reply: FastifyReply, value: unknown): Promise<FastifyReply> {
  return reply.type('application/json; charset=utf-8').send(await bodyOf(encodeJsonParts(value)))
}
