import {
  addInteger,
  byteStringToInteger,
  equalsInteger,
  indexByteString,
  integer,
  integerToByteString,
  lengthOfByteString,
  lessThanInteger,
  sliceByteString,
  subtractInteger,
} from '../core/builtins.js'
import { both } from '../core/data.js'
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

const part = (bytes: Bytes, offset: number, length: number): Bytes =>
  sliceByteString(integer(offset), integer(length), bytes)

const number = (bytes: Bytes, offset: number): Int => byteStringToInteger(part(bytes, offset, 8))

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

const isLength = (bytes: Bytes, length: number): Bool =>
  equalsInteger(lengthOfByteString(bytes), integer(length))

/** Whether a value of the map has the length and kind of a transaction's record. */
export const isTransactionRecord = (value: Bytes): Bool =>
  both(
    isLength(value, transactionRecord.length),
    lessThanInteger(indexByteString(value, integer(transactionRecord.kind)), integer(transactionKind + 1)),
  )

export const isOutputRecord = (value: Bytes): Bool => isLength(value, outputRecord.length)

export const isEmpty = (bytes: Bytes): Bool => isLength(bytes, 0)

/** One more than a position: what the record of an output notes of a transaction. */
export const next = (position: Int): Int => addInteger(position, integer(1))

export const previous = (noted: Int): Int => subtractInteger(noted, integer(1))
