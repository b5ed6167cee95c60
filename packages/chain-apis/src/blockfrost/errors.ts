import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { RefusalError, refusalOf } from '../errors.js'

/** Blockfrost's names of statuses that differ from those of HTTP. */
const statusNames: Readonly<Record<number, string>> = { 425: 'Mempool Full', 429: 'Project Over Limit' }

export class BlockfrostError extends RefusalError {
  override readonly name = 'BlockfrostError'
}

/** A 400 with the message of the real service. */
export function badRequest(message: string): BlockfrostError {
  return new BlockfrostError(400, message)
}

export function notFound(): BlockfrostError {
  return new BlockfrostError(404, 'The requested component has not been found.')
}

export function invalidPath(): BlockfrostError {
  return badRequest('Invalid path. Please check https://docs.blockfrost.io/')
}

export function blockfrostErrorBody(status: number, message: string) {
  return { status_code: status, error: statusNames[status] ?? STATUS_CODES[status] ?? 'Error', message }
}

export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const unexpected = 'An unexpected response was received from the backend.'
  const { status, message = unexpected } = refusalOf(error, request, reply)
  return reply.code(status).send(blockfrostErrorBody(status, message))
}
