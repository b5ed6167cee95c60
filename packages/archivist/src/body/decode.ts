import { createFeed } from './feed.js'
import { bodyGrammar } from './grammar.js'
import type { BlockBody, BodyPart, ProducedOutput } from './types.js'

/** A body of some 400,000 transfers. */
export const defaultMaxBodyBytes = 256 * 1024 * 1024

/**
 * Reads a body in its canonical encoding. Its parts are views of the bytes.
 *
 * @throws {BlockError} `BODY_MALFORMED` on any other bytes, one bit or one byte more included; `BODY_TOO_LARGE`
 */
export function decodeBlockBody(bytes: Uint8Array, maxBytes = defaultMaxBodyBytes): BlockBody {
  const { add, body } = collectParts()
  const feed = createFeed(bodyGrammar(add, maxBytes), maxBytes)
  feed.push(bytes)
  feed.end()
  return body
}

/** A body that grows by its parts. */
export function collectParts(): { add(part: BodyPart): void; readonly body: BlockBody } {
  const transactions: Uint8Array[] = []
  const spent: Uint8Array[] = []
  const produced: ProducedOutput[] = []
  return {
    body: { transactions, spent, produced },
    add(part) {
      if (part.kind === 'transaction') transactions.push(part.cbor)
      else if (part.kind === 'spent') spent.push(part.outref)
      else produced.push({ outref: part.outref, output: part.output })
    },
  }
}

/**
 * The parts of a body that comes in pieces.
 *
 * @throws {BlockError} as {@link decodeBlockBody}
 */
export async function* partsOfBody(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes = defaultMaxBodyBytes,
): AsyncGenerator<readonly BodyPart[], void> {
  let parts: BodyPart[] = []
  const feed = createFeed(
    bodyGrammar((part) => parts.push(part), maxBytes),
    maxBytes,
  )
  for await (const piece of pieces) {
    feed.push(piece)
    if (parts.length > 0) yield parts
    parts = []
  }
  feed.end()
}
