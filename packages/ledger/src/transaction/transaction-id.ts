import { CborReader, isDecodeError, Major } from '@ratatosk/cbor'
import { blake2b256 } from '#crypto'

/**
 * The id of a transaction, without decoding it: Blake2b-256 of the bytes of its body.
 *
 * @param bytes CBOR of what may be a transaction
 * @returns 32 bytes; undefined if the bytes do not begin like
 *   `[body, witnesses, is_valid, auxiliary_data / null]`
 * @example
 * const id = transactionIdOf(fromHex('84a300…'))
 */
export function transactionIdOf(bytes: Uint8Array): Uint8Array | undefined {
  const reader = new CborReader(bytes)
  // Bytes that are no array are found without an error, whose stack trace costs more than everything else.
  if (bytes.length === 0 || reader.peekMajor() !== Major.array) return undefined
  try {
    const items = reader.readArray()
    if ((items !== 4 && items !== -1) || reader.peekMajor() !== Major.map) return undefined
    const start = reader.position
    reader.skip()
    return blake2b256(reader.since(start))
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}
