import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isForClients } from '../errors.js'

const statusNames: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  425: 'Mempool Full',
  429: 'Project Over Limit',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export class BlockfrostError extends Error {
  override readonly name = 'BlockfrostError'

  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message)
  }
}

export function notFound(): BlockfrostError {
  return new BlockfrostError(404, 'The requested component has not been found.')
}

export function invalidPath(): BlockfrostError {
  return new BlockfrostError(400, 'Invalid path. Please check https://docs.blockfrost.io/')
}

export function blockfrostErrorBody(status: number, message: string) {
  return { status_code: status, error: statusNames[status] ?? 'Error', message }
}

export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = error.statusCode ?? 500
  const isExpected = error instanceof BlockfrostError || isForClients(error) || status < 500
  if (!isExpected) request.log.error(error)
  const message = !isExpected ? 'An unexpected response was received from the backend.' : error.message
  return reply.code(status).send(blockfrostErrorBody(status, message))
}
