import { CborReader } from '../cbor/reader.js'
import { located, readNullable, readRecord } from '../cbor/structure.js'
import { blake2b256 } from '../crypto/blake2b.js'
import { readAuxiliaryData } from './auxiliary-data.js'
import { readBody } from './body.js'
import { readOutput } from './output.js'
import type { Transaction, TransactionBody, TransactionOutput } from './types.js'
import { readWitnessSet } from './witness-set.js'

/**
 * Reads a transaction of the Conway era as cardano-node does at protocol version 10: `[body, witnesses, is valid, auxiliary
 * data or null]`. Hashes are taken over the submitted bytes; whether the transaction keeps the ledger's rules is another question.
 *
 * @param bytes the CBOR of the transaction alone. The result keeps views of them: they must not be changed afterwards.
 * @throws DecodeError with `code`, `offset` and `path` (`body.outputs[2].value`); of its subclass CborError where the bytes are
 *   no well-formed CBOR. Nothing else is thrown, whatever the bytes.
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
 * Reads a transaction body alone.
 *
 * @throws DecodeError as {@link decodeTransaction}, with paths that begin inside the body
 */
export function decodeTransactionBody(bytes: Uint8Array): TransactionBody {
  const reader = new CborReader(bytes)
  const body = readBody(reader)
  reader.assertEnd()
  return body
}

/**
 * Reads one transaction output, in the array form of the first eras or the map form since Babbage.
 *
 * @param bytes the CBOR of the output alone; the result keeps views of them
 * @throws DecodeError where the Conway ledger would not take it as an output
 */
export function decodeTransactionOutput(bytes: Uint8Array): TransactionOutput {
  const reader = new CborReader(bytes)
  const output = readOutput(reader)
  reader.assertEnd()
  return output
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
