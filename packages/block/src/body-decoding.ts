import { CborWriter, compareBytes } from '@ratatosk/cbor'
import type { BlockBody, BodyPart, ProducedOutput } from './body.js'
import { listCount } from './body-encoding.js'
import { arrayHead, byteString, createFeed, type Grammar, malformed, unsigned } from './feed.js'

/** Limit of a body in bytes unless a caller sets another: room for about 400,000 transfers. */
export const defaultMaxBodyBytes = 256 * 1024 * 1024

/** An array of two items, the first of them a byte string of 32. */
const outrefPrefix = Uint8Array.of(0x82, 0x58, 0x20)

/**
 * Size in bytes of the smallest transaction that spends an output, and of the smallest output reference. They
 * bound the number of parts that a body of a given size may announce; without the bound a small body could
 * claim a large amount of memory.
 */
const smallest = { transaction: 47, outref: 36 }

/**
 * Reads a body in its canonical encoding. The parts are views of the bytes.
 *
 * @throws {BlockError} `BLOCK_BODY_MALFORMED` on any other bytes; `BLOCK_BODY_TOO_LARGE`
 */
export function decodeBlockBody(bytes: Uint8Array, maxBytes = defaultMaxBodyBytes): BlockBody {
  const { add, body } = collectParts()
  const feed = createFeed(bodyGrammar(add, maxBytes), maxBytes)
  feed.push(bytes)
  feed.end()
  return body
}

/** Collects the parts of a body. `body` grows with each part. */
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
 * Decodes a body that arrives in pieces. Yields, after each piece, the parts that it completes.
 *
 * @throws {BlockError} like {@link decodeBlockBody}
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

/**
 * The grammar of a body in its canonical encoding, for a {@link Feed} of a body or of a response that
 * contains one.
 *
 * @param emit receives each part as soon as it is complete
 * @param maxBytes larger announced lengths are refused before their content arrives
 */
export function* bodyGrammar(emit: (part: BodyPart) => void, maxBytes: number): Grammar<void> {
  if ((yield* arrayHead(maxBytes)) !== listCount) throw malformed(`a body has ${listCount} lists`)

  const transactions = yield* arrayHead(maxBytes / smallest.transaction)
  for (let i = 0; i < transactions; i++) emit({ kind: 'transaction', cbor: yield* byteString(maxBytes) })

  let previous: Uint8Array | undefined
  const spent = yield* arrayHead(maxBytes / smallest.outref)
  for (let i = 0; i < spent; i++) {
    const outref: Uint8Array = yield* outrefAfter(previous)
    emit({ kind: 'spent', outref })
    previous = outref
  }

  previous = undefined
  const produced = yield* arrayHead(maxBytes / smallest.outref)
  for (let i = 0; i < produced; i++) {
    if ((yield* arrayHead(maxBytes)) !== 2) throw malformed('a produced output is not a pair')
    const outref: Uint8Array = yield* outrefAfter(previous)
    emit({ kind: 'produced', outref, output: yield* byteString(maxBytes) })
    previous = outref
  }

  for (const list of ['deposits', 'withdrawals']) {
    if ((yield* arrayHead(maxBytes)) > 0) throw malformed(`${list} are not supported`)
  }
}

/** The CBOR of an output reference that sorts after `previous`. */
function* outrefAfter(previous: Uint8Array | undefined): Grammar<Uint8Array> {
  const prefix = yield outrefPrefix.length
  if (compareBytes(prefix, outrefPrefix) !== 0) throw malformed('not an output reference')
  const id = yield 32
  const index = yield* unsigned(0xffff)
  const outref = new CborWriter(40).raw(outrefPrefix).raw(id).uint(index).toBytes()
  if (previous !== undefined && compareBytes(previous, outref) >= 0)
    throw malformed('output references are not in ascending order')
  return outref
}
