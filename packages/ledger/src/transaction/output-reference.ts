import { CborReader, CborWriter, compareBytes, readRecord, toHex } from '@ratatosk/cbor'
import type { OutputReference } from './types.js'

/** The size of the longest reference plus the writer's room for a number, so that it never grows. */
const capacity = 44

/** Encodes a reference as the CBOR `[id, index]`, definite and in shortest form: the `outref` of `/utxos`. */
export function encodeOutputReference({ transactionId, index }: OutputReference): Uint8Array {
  if (transactionId.length !== 32 || index > 0xff)
    return new CborWriter(capacity).array(2).bytes(transactionId).uint(index).toBytes()
  // Without a writer in three times the speed: blocks encode tens of thousands.
  const bytes = new Uint8Array(index < 24 ? 36 : 37)
  bytes[0] = 0x82
  bytes[1] = 0x58
  bytes[2] = 0x20
  bytes.set(transactionId, 3)
  if (index >= 24) bytes[35] = 0x18
  bytes[bytes.length - 1] = index
  return bytes
}

/**
 * Decodes the CBOR `[id, index]`, in every encoding that the ledger accepts.
 *
 * @throws DecodeError if the bytes are not such a pair, or bytes follow it
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

/** The order of the ledger's sets: transaction id, then index. */
export function byReference(a: OutputReference, b: OutputReference): number {
  return compareBytes(a.transactionId, b.transactionId) || a.index - b.index
}

/**
 * Returns a key for maps and sets. Two keys are equal if and only if the references are.
 *
 * @returns `<64 hex digits>#<index>`
 */
export function outputReferenceKey(reference: OutputReference): string {
  return `${toHex(reference.transactionId)}#${reference.index}`
}
