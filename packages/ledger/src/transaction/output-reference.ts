import { toHex } from '../bytes.js'
import { CborReader } from '../cbor/reader.js'
import { readRecord } from '../cbor/structure.js'
import { CborWriter } from '../cbor/writer.js'
import type { OutputReference } from './types.js'

/** Of the longest reference, and what the writer holds ready for a number: with less it would grow each time. */
const capacity = 44

/** The CBOR `[id, index]`, definite and in shortest form: what `/utxos` answers as `outref`. */
export function encodeOutputReference(reference: OutputReference): Uint8Array {
  return new CborWriter(capacity).array(2).bytes(reference.transactionId).uint(reference.index).toBytes()
}

/**
 * The reverse of {@link encodeOutputReference}; takes every encoding of the pair that the ledger takes.
 *
 * @throws DecodeError where the bytes are no such pair or more than it
 */
export function decodeOutputReference(bytes: Uint8Array): OutputReference {
  const reader = new CborReader(bytes)
  const reference = readOutputReference(reader)
  reader.assertEnd()
  return reference
}

export function readOutputReference(reader: CborReader): OutputReference {
  return readRecord(reader, 2, readPair)
}

function readPair(reader: CborReader): OutputReference {
  return { transactionId: reader.readBytesOf(32), index: reader.readUint(0xffff) }
}

/**
 * A key for maps and sets: equal exactly where the references are.
 *
 * @returns `<64 hex digits>#<index>`
 */
export function outputReferenceKey(reference: OutputReference): string {
  return `${toHex(reference.transactionId)}#${reference.index}`
}
