import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { joinPieces } from './body-cache.js'
import { TooManyReadsError } from './errors.js'

interface SendOptions {
  /** Maximum number of concurrent responses with bodies. */
  readonly maxReads: number
  /** How long a client may accept no data before its connection is closed, in milliseconds. */
  readonly stallTimeoutMs: number
}

/**
 * Sends chunks as the client reads them, with the headers before the first: a later error closes the
 * connection. A client that stalls is disconnected.
 * @throws TooManyReadsError if the maximum number of responses is in progress
 */
export function pieceSender({ maxReads, stallTimeoutMs }: SendOptions) {
  let sending = 0
  return async (
    { method }: FastifyRequest,
    reply: FastifyReply,
    headers: Readonly<Record<string, string>>,
    pieces: AsyncIterable<Uint8Array | string>,
    hasBodies: boolean,
  ): Promise<FastifyReply> => {
    if (method === 'HEAD') return reply.headers(headers).send(Readable.from([]))
    const places = Number(hasBodies)
    if (sending + places > maxReads) throw new TooManyReadsError()
    sending += places
    const joined = joinPieces(pieces)
    let body: Readable
    try {
      body = Readable.from(startedWith(await joined.next(), joined))
    } catch (error) {
      sending -= places
      throw error
    }
    body.once('close', () => {
      sending -= places
      // Has an effect if the client disconnected before the stream was first read.
      joined.return().catch(() => undefined)
    })
    // If a hook of the server fails, nothing else ends the body.
    reply.raw.once('close', () => body.destroy())
    // The socket of an injected request has no timers.
    reply.raw.socket?.setTimeout?.(stallTimeoutMs)
    return reply.headers(headers).send(body)
  }
}

async function* startedWith(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done) return
  yield first.value
  yield* rest
}
