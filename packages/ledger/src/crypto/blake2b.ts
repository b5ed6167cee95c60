import sodium from 'sodium-native'

// The binding takes any Uint8Array; its types name Buffer only.
const generichash = sodium.crypto_generichash as (output: Uint8Array, input: Uint8Array) => void

// libsodium writes into these, and a hash is copied out: a native call with a fresh small array costs 200 ns more.
const digest32 = new Uint8Array(new ArrayBuffer(32))
const digest28 = new Uint8Array(new ArrayBuffer(28))

/**
 * Blake2b-256, 32 bytes: transaction ids, datum hashes, script data hashes.
 *
 * @example toHex(blake2b256(transaction.body.bytes)) // the transaction's id
 */
export function blake2b256(message: Uint8Array): Uint8Array {
  generichash(digest32, message)
  return new Uint8Array(digest32)
}

/** Blake2b-224, 28 bytes: key hashes, script hashes, header hashes. */
export function blake2b224(message: Uint8Array): Uint8Array {
  generichash(digest28, message)
  return new Uint8Array(digest28)
}
