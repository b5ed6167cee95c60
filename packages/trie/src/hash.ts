import sodium from 'sodium-native'

/** Length in bytes of every hash, path and root. */
export const HASH_LENGTH = 32

/** The hash of what is absent, and the root of the empty map: 32 zero bytes. */
export const NULL_HASH: Buffer = Buffer.alloc(HASH_LENGTH)

// The binding takes any Uint8Array; its types name Buffer only.
const generichash = sodium.crypto_generichash as (output: Uint8Array, input: Uint8Array) => void

/** V8 keeps arrays of up to so many bytes in its own heap, and moves each out before native code may read it: slower than a copy. */
const MOVED_LENGTH = 64
const moved = Buffer.allocUnsafeSlow(MOVED_LENGTH)
const movedBy = Array.from({ length: MOVED_LENGTH + 1 }, (_, length) => moved.subarray(0, length))

/** Hashes `input` into `output` (32 bytes), allocating nothing; both are parts of larger buffers. */
export function blake2b256Into(output: Buffer, input: Buffer): void {
  generichash(output, input)
}

/** Hashes what a caller gives, of any size and kind, into `output` (32 bytes of a larger buffer), allocating nothing. */
export function blake2b256AnyInto(output: Buffer, input: Uint8Array): void {
  const copy = movedBy[input.length]
  copy?.set(input)
  generichash(output, copy ?? input)
}

/** Blake2b with a digest of 32 bytes, without a key (RFC 7693). */
export function blake2b256(input: Uint8Array): Buffer {
  const output = Buffer.allocUnsafe(HASH_LENGTH)
  blake2b256AnyInto(output, input)
  return output
}

/** The same bytes as a Buffer, without copying. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
