import { CborWriter } from '@ratatosk/ledger'
import type { ArchivedBlock } from '../archive.js'
import { type AnswerFormat, type PartOfBlock, type ReadBody, whole } from './part.js'

export const cbor: AnswerFormat = {
  contentType: 'application/cbor',
  tagSuffix: '.cbor',
  block: blockCbor,
  async *blocks(blocks, body) {
    yield new CborWriter().map(1).text('blocks').array(blocks.length).toBytes()
    for (const block of blocks) yield* blockCbor(block, whole, body)
  },
}

/** Maps in the order of RFC 8949's deterministic encoding: body, hash, header, height. */
async function* blockCbor(
  { headerHash, height, header }: ArchivedBlock,
  part: PartOfBlock,
  body: ReadBody,
): AsyncGenerator<Uint8Array, void> {
  const opening = new CborWriter().map(2 + Number(part.header) + Number(part.body))
  if (part.body) {
    yield opening.text('body').toBytes()
    yield* body(headerHash)
    yield closing(new CborWriter())
  } else yield closing(opening)

  function closing(writer: CborWriter): Uint8Array {
    writer.text('hash').bytes(headerHash)
    if (part.header) writer.text('header').bytes(header)
    return writer.text('height').uint(height).toBytes()
  }
}
