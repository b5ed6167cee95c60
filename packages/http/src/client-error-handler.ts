import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorBody } from './schemas.js'

/** What Node's parser reports before there is a request; everything else is a 400. */
const statusOf: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** How long a refused client may take to read its answer and hang up, in milliseconds. */
const lingerMs = 1000

/**
 * Answers what is no request: one that came too slowly (408), with too large headers (431), or that is not HTTP (400).
 * For Fastify's option `clientErrorHandler`. The connection is closed, since nobody knows where the next request begins.
 */
export function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  // Closed in stages (RFC 9112, section 9.6): destroyed at once, the connection may be reset before the answer is read.
  socket.end(rawAnswer(statusOf[error.code ?? ''] ?? 400))
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(linger))
}

function rawAnswer(statusCode: number): string {
  const reason = STATUS_CODES[statusCode] ?? ''
  const body = JSON.stringify({ error: reason } satisfies ErrorBody)
  return [
    `HTTP/1.1 ${statusCode} ${reason}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
