import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { joinPieces } from './join-pieces.js'

/**
 * Sends pieces as they come. Headers go with the first of them, so that what fails before it is an ordinary error; what fails after
 * it breaks the connection off. Of a HEAD request nothing is read.
 */
export async function sendPieces(
  { method }: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  pieces: AsyncIterable<Uint8Array | string>,
): Promise<FastifyReply> {
  const body = method === 'HEAD' ? [] : await begun(joinPieces(pieces))
  return reply.headers(headers).send(Readable.from(body))
}

/** The same pieces when the first of them has come. */
async function begun(pieces: AsyncGenerator<Uint8Array, void>): Promise<AsyncIterable<Uint8Array>> {
  let first: IteratorResult<Uint8Array, void> | undefined = await pieces.next()
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const result = first ?? pieces.next()
        first = undefined
        return result
      },
      // Also where nobody has asked for a piece.
      return: () => pieces.return(),
    }),
  }
}
