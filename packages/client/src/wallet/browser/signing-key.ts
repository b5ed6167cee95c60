import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { bigintOf, concatBytes } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'
import { bech32 } from 'bech32'

const { Point } = ed25519
const order = Point.Fn.ORDER

export interface BrowserKey {
  readonly publicKey: Uint8Array
  /** Blake2b-224 of the public key. */
  readonly hash: Uint8Array
  /** An Ed25519 signature (RFC 8032), 64 bytes. */
  sign(message: Uint8Array): Uint8Array
}

/**
 * A key that is public: the arithmetic is not in constant time.
 *
 * @param text bech32 `ed25519e_sk` (CIP-5): the scalar and the nonce key of BIP32-Ed25519, 32 bytes each
 */
export function publicSigningKey(text: string): BrowserKey {
  const { prefix, words } = bech32.decode(text, 200)
  const bytes = Uint8Array.from(bech32.fromWords(words))
  if (prefix !== 'ed25519e_sk' || bytes.length !== 64) throw new RangeError('A key must be an ed25519e_sk')
  const scalar = reduce(bytes.subarray(0, 32))
  const nonceKey = bytes.subarray(32)
  const publicKey = Point.BASE.multiply(scalar).toBytes()
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign(message) {
      const nonce = reduce(sha512(concatBytes(nonceKey, message)))
      const commitment = Point.BASE.multiply(nonce).toBytes()
      const challenge = reduce(sha512(concatBytes(commitment, publicKey, message)))
      return concatBytes(commitment, Point.Fn.toBytes((nonce + challenge * scalar) % order))
    },
  }
}

/** A little-endian integer modulo the order of the base point. */
function reduce(bytes: Uint8Array): bigint {
  return bigintOf(Uint8Array.from(bytes).reverse()) % order
}
