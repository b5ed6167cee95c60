import sodium from 'sodium-native'

/** Length in bytes of every hash, path and root. */
export const HASH_LENGTH = 32

/** The hash of what is absent, and the root of the empty map: 32 zero bytes. */
export const NULL_HASH: Buffer = Buffer.alloc(HASH_LENGTH)

/** Hashes `input` into `output` (32 bytes), allocating nothing. */
export function blake2b256Into(output: Buffer, input: Buffer): void {
  sodium.crypto_generichash(output, input)
}

/** Blake2b with a digest of 32 bytes, without a key (RFC 7693). */
export function blake2b256(input: Uint8Array): Buffer {
  const output = Buffer.allocUnsafe(HASH_LENGTH)
  blake2b256Into(output, asBuffer(input))
  return output
}

/** The same bytes as a Buffer, without copying. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
