import { decodeHeader } from '@ratatosk/contracts'
import { blake2b224, CborWriter, concatBytes, equalBytes } from '@ratatosk/ledger'
import { collectParts } from '../body/decode.js'
import { BlockError } from '../body/errors.js'
import { createFeed, type Feed, type Grammar } from '../body/feed.js'
import { bodyGrammar, byteString, expectBytes, unsigned } from '../body/grammar.js'
import type { BlockBody } from '../body/types.js'

/** A header as a peer has it. */
export interface PeerHeader {
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** What the peer says; only the hashes up to genesis can tell. */
  readonly height: number
}

/** Ten fields of at most 32 bytes each, however they are encoded. */
const maxHeaderBytes = 1024

/** What stands around a body or a header in an answer. */
const maxEnvelopeBytes = 256

const key = (name: string): Uint8Array => new CborWriter(16).text(name).toBytes()
const mapOfThree = Uint8Array.of(0xa3)
const hashOpening = concatBytes(key('hash'), Uint8Array.of(0x58, 28))

/** Reads the answer of `/block/{id}/header`; its header has the hash that it comes with. */
export function headerFeed(): Feed<PeerHeader> {
  return createFeed(headerAnswer(), maxHeaderBytes + maxEnvelopeBytes)
}

/** Reads the answer of `/block/{hash}/body`. */
export function bodyFeed(headerHash: Uint8Array, maxBodyBytes: number): Feed<BlockBody> {
  return createFeed(bodyAnswer(headerHash, maxBodyBytes), maxBodyBytes + maxEnvelopeBytes)
}

function* headerAnswer(): Grammar<PeerHeader> {
  yield* expectBytes(concatBytes(mapOfThree, hashOpening))
  const headerHash = Uint8Array.from(yield 28)
  yield* expectBytes(key('header'))
  const header = Uint8Array.from(yield* byteString(maxHeaderBytes))
  if (!equalBytes(blake2b224(header), headerHash))
    throw new BlockError('BODY_FOREIGN', 'a header of another hash')
  decodeHeader(header)
  yield* expectBytes(key('height'))
  return { headerHash, header, height: yield* unsigned() }
}

function* bodyAnswer(headerHash: Uint8Array, maxBodyBytes: number): Grammar<BlockBody> {
  yield* expectBytes(concatBytes(mapOfThree, key('body')))
  const { add, body } = collectParts()
  yield* bodyGrammar(add, maxBodyBytes)
  yield* expectBytes(concatBytes(hashOpening, headerHash, key('height')))
  yield* unsigned()
  return body
}
