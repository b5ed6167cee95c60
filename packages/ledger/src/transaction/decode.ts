import {
  type CborLimits,
  CborReader,
  CborWriter,
  defaultLimits,
  isDecodeError,
  located,
  Major,
  readNullable,
  readRecord,
} from '@ratatosk/cbor'
import { blake2b256 } from '#crypto'
import { readAuxiliaryData } from './auxiliary-data.js'
import { readBody } from './body.js'
import { readOutput } from './output.js'
import { encodeOutputReference, readOutputReference } from './output-reference.js'
import { readNative } from './script/script.js'
import type { Script, Transaction, TransactionBody, TransactionOutput, Utxo } from './types.js'
import { readWitnessSet } from './witness-set.js'

/**
 * The limits of what layer 1 accepts. It limits the size of a transaction, not the depth of its data and
 * native scripts, where one byte may open one level.
 */
export const layer1Limits: CborLimits = { ...defaultLimits, maxDepth: defaultLimits.maxLength }

/**
 * Decodes a transaction of the Conway era, `[body, witnesses, is_valid, auxiliary_data / null]`, and accepts
 * what cardano-node accepts at ledger version 10. Hashes are computed over the submitted bytes. The rules
 * of the ledger are not validated; see `validate`.
 *
 * @param bytes the CBOR of the transaction. The result keeps views of it, so it must not be changed
 *   afterwards.
 * @throws DecodeError with `code`, `offset` and `path` (`body.outputs[2].value`), or one of its subclasses:
 *   CborError if the bytes are not well-formed CBOR, AddressError for an invalid address. Throws nothing
 *   else.
 * @example
 * const transaction = decodeTransaction(fromHex('84a300…'))
 * toHex(transaction.id) // the transaction's hash
 * transaction.body.fee // 168273n, in lovelace
 */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  return whole(new CborReader(bytes), readFrame)
}

/**
 * The same for a transaction of layer 1, within {@link layer1Limits}.
 *
 * @throws DecodeError like {@link decodeTransaction}
 */
export function decodeLayer1Transaction(bytes: Uint8Array): Transaction {
  return whole(layer1Reader(bytes), readFrame)
}

const layer1Reader = (bytes: Uint8Array): CborReader => new CborReader(bytes, 0, bytes.length, layer1Limits)

const readFrame = (reader: CborReader): Transaction => readRecord(reader, 4, readTransaction)

function whole<T>(reader: CborReader, read: (reader: CborReader) => T): T {
  const result = read(reader)
  reader.assertEnd()
  return result
}

/**
 * Decodes a transaction body.
 *
 * @param bytes the CBOR of the body; the result keeps views of it
 * @throws DecodeError like {@link decodeTransaction}; the path starts inside the body
 */
export function decodeTransactionBody(bytes: Uint8Array): TransactionBody {
  return whole(new CborReader(bytes), readBody)
}

/**
 * Decodes a transaction output, in the array form of the Shelley era or the map form since Babbage.
 *
 * @param bytes the CBOR of the output; the result keeps views of it
 * @throws DecodeError if the Conway ledger does not accept the bytes as an output
 */
export function decodeTransactionOutput(bytes: Uint8Array): TransactionOutput {
  return whole(new CborReader(bytes), readOutput)
}

/**
 * The same for an output of layer 1, within {@link layer1Limits}.
 *
 * @throws DecodeError like {@link decodeTransactionOutput}
 */
export function decodeLayer1Output(bytes: Uint8Array): TransactionOutput {
  return whole(layer1Reader(bytes), readOutput)
}

/**
 * Decodes a native script, as a witness set holds it.
 *
 * @param bytes the CBOR of the script; the result keeps views of it
 * @throws DecodeError if the Conway ledger does not accept the bytes as a native script
 */
export function decodeNativeScript(bytes: Uint8Array): Extract<Script, { language: 'native' }> {
  return whole(new CborReader(bytes), readNative)
}

function readTransaction(reader: CborReader): Transaction {
  let part = 'body'
  try {
    const body = readBody(reader)
    part = 'witnesses'
    const witnesses = readWitnessSet(reader)
    part = 'isValid'
    const isValid = reader.readBoolean()
    part = 'auxiliaryData'
    const auxiliaryData = readNullable(reader, readAuxiliaryData)
    const common = { bytes: reader.bytes, id: blake2b256(body.bytes), body, witnesses, isValid }
    return auxiliaryData === undefined ? common : { ...common, auxiliaryData }
  } catch (error) {
    throw located(error, part)
  }
}

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
