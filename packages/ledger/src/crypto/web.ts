import { ed25519 } from '@noble/curves/ed25519.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { ripemd160 as nobleRipemd160 } from '@noble/hashes/legacy.js'
import { sha256 as nobleSha256, sha512 } from '@noble/hashes/sha2.js'
import { sha3_256 as nobleSha3 } from '@noble/hashes/sha3.js'
import { bigintOf, concatBytes, equalBytes } from '@ratatosk/cbor'

/*
 * The functions of node.ts without native code, for browsers. `crypto.test.ts` checks that both agree.
 */

const { Point } = ed25519
/** The order of the base point. */
const order = Point.Fn.ORDER

export function blake2b256(message: Uint8Array): Uint8Array {
  return blake2b(message, { dkLen: 32 })
}

export function blake2b224(message: Uint8Array): Uint8Array {
  return blake2b(message, { dkLen: 28 })
}

export function blake2b160(message: Uint8Array): Uint8Array {
  return blake2b(message, { dkLen: 20 })
}

export function sha256(message: Uint8Array): Uint8Array {
  return nobleSha256(message)
}

export function sha3_256(message: Uint8Array): Uint8Array {
  return nobleSha3(message)
}

export function ripemd160(message: Uint8Array): Uint8Array {
  return nobleRipemd160(message)
}

/** Like libsodium's `crypto_sign_verify_detached`: Noble's `verify` multiplies by the cofactor. */
export function verifySignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false
  const encodedR = signature.subarray(0, 32)
  const s = littleEndian(signature.subarray(32))
  if (s >= order) return false
  const key = decodePoint(publicKey)
  if (key === undefined || key.isSmallOrder()) return false
  const challenge = littleEndian(sha512(concatBytes(encodedR, publicKey, message))) % order
  const r = Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(challenge))
  // The comparison of encodings refuses a non-canonical R.
  return !r.isSmallOrder() && equalBytes(r.toBytes(), encodedR)
}

function decodePoint(bytes: Uint8Array): InstanceType<typeof Point> | undefined {
  try {
    return Point.fromBytes(bytes)
  } catch {
    return undefined
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  return bigintOf(Uint8Array.from(bytes).reverse())
}
