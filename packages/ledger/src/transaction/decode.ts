import { CborReader, located, readNullable, readRecord } from '@ratatosk/cbor'
import { blake2b256 } from '#crypto'
import { readAuxiliaryData } from './auxiliary-data.js'
import { readBody } from './body.js'
import { readOutput } from './output.js'
import { readNative } from './script/script.js'
import type { Script, Transaction, TransactionBody, TransactionOutput } from './types.js'
import { readWitnessSet } from './witness-set.js'

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
  const reader = new CborReader(bytes)
  const transaction = readRecord(reader, 4, readTransaction)
  reader.assertEnd()
  return transaction
}

/**
 * Decodes a transaction body.
 *
 * @param bytes the CBOR of the body; the result keeps views of it
 * @throws DecodeError like {@link decodeTransaction}; the path starts inside the body
 */
export function decodeTransactionBody(bytes: Uint8Array): TransactionBody {
  const reader = new CborReader(bytes)
  const body = readBody(reader)
  reader.assertEnd()
  return body
}

/**
 * Decodes a transaction output, in the array form of the Shelley era or the map form since Babbage.
 *
 * @param bytes the CBOR of the output; the result keeps views of it
 * @throws DecodeError if the Conway ledger does not accept the bytes as an output
 */
export function decodeTransactionOutput(bytes: Uint8Array): TransactionOutput {
  const reader = new CborReader(bytes)
  const output = readOutput(reader)
  reader.assertEnd()
  return output
}

/**
 * Decodes a native script, as a witness set holds it.
 *
 * @param bytes the CBOR of the script; the result keeps views of it
 * @throws DecodeError if the Conway ledger does not accept the bytes as a native script
 */
export function decodeNativeScript(bytes: Uint8Array): Extract<Script, { language: 'native' }> {
  const reader = new CborReader(bytes)
  const script = readNative(reader)
  reader.assertEnd()
  return script
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
