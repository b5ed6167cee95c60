import sodium from 'sodium-native'

// The binding takes any Uint8Array; its types name Buffer only.
const verifyDetached = sodium.crypto_sign_verify_detached as (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean

/**
 * Whether an Ed25519 signature holds, as libsodium judges it (so as cardano-node does): small-order keys and
 * non-canonical encodings of S and of the key are refused.
 *
 * @param signature 64 bytes
 * @param message what was signed; for a transaction its 32-byte id
 * @param publicKey 32 bytes
 * @returns false also where a length is wrong
 */
export function verifySignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false
  return verifyDetached(signature, message, publicKey)
}
