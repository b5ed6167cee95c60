import { CborReader, CborWriter, readRecord } from '@ratatosk/cbor'
import { decodeTransactionOutput } from './decode.js'
import { encodeOutputReference, readOutputReference } from './output-reference.js'
import type { Utxo } from './types.js'

/** An output with its reference in CBOR, as `getUtxos` of CIP-30 answers it. */
export function encodeUtxo({ reference, output }: Utxo): Uint8Array {
  return new CborWriter().array(2).raw(encodeOutputReference(reference)).raw(output.bytes).toBytes()
}

/**
 * The reverse of {@link encodeUtxo}.
 *
 * @throws DecodeError if the bytes are not such a pair, or bytes follow it
 */
export function decodeUtxo(bytes: Uint8Array): Utxo {
  const reader = new CborReader(bytes)
  const utxo = readRecord(reader, 2, readPair)
  reader.assertEnd()
  return utxo
}

function readPair(reader: CborReader): Utxo {
  const reference = readOutputReference(reader)
  const start = reader.position
  reader.skip()
  return { reference, output: decodeTransactionOutput(reader.since(start)) }
}
