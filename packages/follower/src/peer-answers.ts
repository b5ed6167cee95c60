import {
  BlockError,
  bodyGrammar,
  bodyOfEncoding,
  byteString,
  createFeed,
  decodeHeader,
  type EncodedBody,
  expectBytes,
  type Feed,
  type Grammar,
  keepingFeed,
  unsigned,
} from '@ratatosk/block'
import { CborWriter, concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'

/** A header from a peer, verified to have its hash. */
export interface PeerHeader {
  readonly headerHash: Uint8Array
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** Claimed by the peer, not verified: only the chain of hashes to genesis proves a height. */
  readonly height: number
}

/** Enough for ten fields of at most 32 bytes each, in any encoding. */
const maxHeaderBytes = 1024

/** Enough for the rest of a response that contains a body or header. */
const maxEnvelopeBytes = 256

const key = (name: string): Uint8Array => new CborWriter(16).text(name).toBytes()
const mapOfThree = Uint8Array.of(0xa3)
const bodyOpening = concatBytes(mapOfThree, key('body'))
const hashOpening = concatBytes(key('hash'), Uint8Array.of(0x58, 28))

/** Parses the response of `/block/{id}/header` and verifies the header's hash. */
export function headerFeed(): Feed<PeerHeader> {
  return createFeed(headerAnswer(), maxHeaderBytes + maxEnvelopeBytes)
}

/** Parses the response of `/block/{hash}/body`. @param mayCredit whether the body may have deposits */
export function bodyFeed(
  headerHash: Uint8Array,
  maxBodyBytes: number,
  mayCredit: boolean,
): Feed<Promise<EncodedBody>> {
  const answer = bodyAnswer(headerHash, maxBodyBytes, mayCredit)
  const feed = createFeed(answer, maxBodyBytes + maxEnvelopeBytes)
  return keepingFeed(feed, (bytes, endLength) =>
    bodyOfEncoding(bytes.subarray(bodyOpening.length, bytes.length - endLength)),
  )
}

function* headerAnswer(): Grammar<PeerHeader> {
  yield* expectBytes(concatBytes(mapOfThree, hashOpening))
  const headerHash = Uint8Array.from(yield 28)
  yield* expectBytes(key('header'))
  const header = Uint8Array.from(yield* byteString(maxHeaderBytes))
  if (!equalBytes(blake2b224(header), headerHash))
    throw new BlockError(
      'BLOCK_BODY_MISMATCH',
      'The header does not have the hash that the peer sent with it',
    )
  decodeHeader(header)
  yield* expectBytes(key('height'))
  return { headerHash, header, height: yield* unsigned() }
}

/** @returns bytes behind the body */
function* bodyAnswer(headerHash: Uint8Array, maxBodyBytes: number, mayCredit: boolean): Grammar<number> {
  yield* expectBytes(bodyOpening)
  yield* bodyGrammar(() => undefined, maxBodyBytes, mayCredit)
  const end = concatBytes(hashOpening, headerHash, key('height'))
  yield* expectBytes(end)
  return end.length + new CborWriter(9).uint(yield* unsigned()).toBytes().length
}
