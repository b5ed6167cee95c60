import { createHash } from 'node:crypto'
import sodium from 'sodium-native'

/** The order of Ed25519's base point. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

/** The public key of a scalar that is used as it is, without the clamping of a seed's: 32 bytes. */
export function publicKeyOfScalar(scalar: Uint8Array): Uint8Array {
  return multiplyBase(scalar)
}

/** An Ed25519 signature (RFC 8032, 64 bytes) by a key with given, not hashed, scalar and nonce key. */
export function signExtended(
  scalar: Uint8Array,
  nonceKey: Uint8Array,
  publicKey: Uint8Array,
  message: Uint8Array,
): Uint8Array {
  const nonce = reduce(createHash('sha512').update(nonceKey).update(message).digest())
  const commitment = multiplyBase(nonce)
  const challenge = reduce(createHash('sha512').update(commitment).update(publicKey).update(message).digest())
  // sodium-native lacks libsodium's scalar product. At a few transactions a minute, timing leaks little.
  const response = (toInteger(nonce) + toInteger(challenge) * toInteger(scalar)) % ORDER
  const signature = new Uint8Array(64)
  signature.set(commitment)
  signature.set(fromInteger(response), 32)
  return signature
}

function multiplyBase(scalar: Uint8Array): Uint8Array {
  const point = Buffer.alloc(32)
  sodium.crypto_scalarmult_ed25519_base_noclamp(point, Buffer.from(scalar))
  return Uint8Array.from(point)
}

function reduce(digest: Buffer): Uint8Array {
  const scalar = Buffer.alloc(32)
  sodium.crypto_core_ed25519_scalar_reduce(scalar, digest)
  return Uint8Array.from(scalar)
}

function toInteger(littleEndian: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`)
}

function fromInteger(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse())
}
