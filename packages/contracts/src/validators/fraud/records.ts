import {
  addInteger,
  byteStringToInteger,
  bytes,
  equalsByteString,
  equalsInteger,
  indexByteString,
  integer,
  integerToByteString,
  lengthOfByteString,
  sliceByteString,
  subtractInteger,
} from '../core/builtins.js'
import { both, not } from '../core/data.js'
import type { Bool, Bytes, Int } from '../core/term.js'

/** Lengths and offsets of the records in the transactions map, as `@ratatosk/block` encodes them. */
export const transactionRecord = {
  length: 105,
  kind: 0,
  id: 1,
  witnessSetHash: 33,
  resolved: 65,
  feesSoFar: 97,
} as const

const outputRecord = { length: 48, created: 0, spent: 8, hash: 16 } as const

export const transactionKind = 2

const hashBytes = 32

/** The key of a transaction in the map; fails for a negative position. */
export const positionKey = (position: Int): Bytes => integerToByteString(8, position)

const part = (record: Bytes, offset: number, length: number): Bytes =>
  sliceByteString(integer(offset), integer(length), record)

const number = (record: Bytes, offset: number): Int => byteStringToInteger(part(record, offset, 8))

export const idOf = (transaction: Bytes): Bytes => part(transaction, transactionRecord.id, hashBytes)

export const witnessSetHashOf = (transaction: Bytes): Bytes =>
  part(transaction, transactionRecord.witnessSetHash, hashBytes)

export const resolvedHashOf = (transaction: Bytes): Bytes =>
  part(transaction, transactionRecord.resolved, hashBytes)

export const feesSoFarOf = (transaction: Bytes): Int => number(transaction, transactionRecord.feesSoFar)

/**
 * One more than the position of the transaction that made the output; 0 for an output from before the block.
 */
export const createdOf = (output: Bytes): Int => number(output, outputRecord.created)

/**
 * One more than the position of the transaction that spends the output; 0 if it is unspent after the block.
 */
export const spentOf = (output: Bytes): Int => number(output, outputRecord.spent)

export const outputHashOf = (output: Bytes): Bytes => part(output, outputRecord.hash, hashBytes)

const isLength = (content: Bytes, length: number): Bool =>
  equalsInteger(lengthOfByteString(content), integer(length))

/** Whether a value of the map is a record of a transaction: a block of this version has no other kind. */
export const isTransactionRecord = (value: Bytes): Bool =>
  both(
    isLength(value, transactionRecord.length),
    equalsInteger(indexByteString(value, integer(transactionRecord.kind)), integer(transactionKind)),
  )

export const isOutputRecord = (value: Bytes): Bool => isLength(value, outputRecord.length)

/** Whether the record of an output has a maker or a spender: a block notes no other output. */
export const isMadeOrSpent = (output: Bytes): Bool =>
  not(
    equalsByteString(
      sliceByteString(integer(outputRecord.created), integer(outputRecord.hash), output),
      bytes(new Uint8Array(outputRecord.hash)),
    ),
  )

export const isEmpty = (content: Bytes): Bool => isLength(content, 0)

/** One more than a position: what the record of an output notes of a transaction. */
export const next = (position: Int): Int => addInteger(position, integer(1))

export const previous = (noted: Int): Int => subtractInteger(noted, integer(1))
