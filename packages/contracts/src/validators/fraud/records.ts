import type { PByteString, PData, PList } from '@harmoniclabs/plu-ts'
import {
  chunkKind,
  chunkRecordLength,
  maxChunks,
  outputRecordLength,
  transactionRecordLength,
} from '@ratatosk/block'
import {
  addInteger,
  appendByteString,
  blake2b256,
  byteStringToInteger,
  bytes,
  equalsInteger,
  indexByteString,
  integer,
  integerToByteString,
  lengthOfByteString,
  lessThanEqualsInteger,
  sliceByteString,
  subtractInteger,
  unBData,
} from '../core/builtins.js'
import { both, every } from '../core/data.js'
import { type Bool, type Bytes, define, defineOf, type Int, recursive, uncons } from '../core/term.js'

/** Lengths and offsets of the records in the transactions map. */
export const transactionRecord = {
  length: transactionRecordLength,
  kind: 0,
  id: 1,
  witnessSetHash: 33,
  resolved: 65,
  feesSoFar: 97,
  bodyLength: 105,
  witnessSetLength: 109,
} as const

const chunkRecord = { length: chunkRecordLength, kind: 0, first: 1, chunks: 9, hash: 17 } as const

const outputRecord = { length: outputRecordLength, created: 0, spent: 8, hash: 16 } as const

export const transactionKind = 2

const hashBytes = 32

/** The key of a transaction in the map; fails for a negative position. */
export const positionKey = (position: Int): Bytes => integerToByteString(8, position)

export const chunkKeyLength = 4

/** The key of a chunk in the map; fails for a negative number. */
export const chunkKey = (chunk: Int): Bytes => integerToByteString(chunkKeyLength, chunk)

const part = (record: Bytes, offset: number, length: number): Bytes =>
  sliceByteString(integer(offset), integer(length), record)

const number = (record: Bytes, offset: number, length = 8): Int =>
  byteStringToInteger(part(record, offset, length))

export const idOf = (transaction: Bytes): Bytes => part(transaction, transactionRecord.id, hashBytes)

export const witnessSetHashOf = (transaction: Bytes): Bytes =>
  part(transaction, transactionRecord.witnessSetHash, hashBytes)

export const resolvedHashOf = (transaction: Bytes): Bytes =>
  part(transaction, transactionRecord.resolved, hashBytes)

export const feesSoFarOf = (transaction: Bytes): Int => number(transaction, transactionRecord.feesSoFar)

export const bodyLengthOf = (transaction: Bytes): Int => number(transaction, transactionRecord.bodyLength, 4)

export const witnessSetLengthOf = (transaction: Bytes): Int =>
  number(transaction, transactionRecord.witnessSetLength, 4)

export const firstPositionOf = (chunk: Bytes): Int => number(chunk, chunkRecord.first)

export const chunkCountOf = (chunk: Bytes): Int => number(chunk, chunkRecord.chunks)

export const chunkHashOf = (chunk: Bytes): Bytes => part(chunk, chunkRecord.hash, hashBytes)

/** One more than the position of the output's maker; 0 for an output from before the block. */
export const createdOf = (output: Bytes): Int => number(output, outputRecord.created)

/**
 * One more than the position of the transaction that spends the output; 0 if unspent after the block, and
 * {@link left} if the output leaves layer 2.
 */
export const spentOf = (output: Bytes): Int => number(output, outputRecord.spent)

/** The spender of an output that leaves layer 2: no output is spent at the position before. */
const left = 2n ** 63n

export const hasLeft = (spent: Int): Bool => equalsInteger(spent, integer(left))

export const outputHashOf = (output: Bytes): Bytes => part(output, outputRecord.hash, hashBytes)

const isLength = (content: Bytes, length: number): Bool =>
  equalsInteger(lengthOfByteString(content), integer(length))

/** Whether a value of the map is a record of a transaction: a block of this version has no other kind. */
export const isTransactionRecord = (value: Bytes): Bool =>
  both(
    isLength(value, transactionRecord.length),
    equalsInteger(indexByteString(value, integer(transactionRecord.kind)), integer(transactionKind)),
  )

/** Whether a value of the map is a record of a chunk, of as many as a block may have. */
export const isChunkRecord = (value: Bytes): Bool =>
  every(
    isLength(value, chunkRecord.length),
    equalsInteger(indexByteString(value, integer(chunkRecord.kind)), integer(chunkKind)),
    lessThanEqualsInteger(chunkCountOf(value), integer(maxChunks)),
  )

export const isOutputRecord = (value: Bytes): Bool => isLength(value, outputRecord.length)

export const isEmpty = (content: Bytes): Bool => isLength(content, 0)

/** One more than a position: what the record of an output notes of a transaction. */
export const next = (position: Int): Int => addInteger(position, integer(1))

export const previous = (noted: Int): Int => subtractInteger(noted, integer(1))

/** The Blake2b-256 hashes of byte strings as data, one behind the other, before others. */
export const hashesBefore = defineOf<[PList<PData>, PByteString], PByteString>(2, (contents, others) =>
  recursive<PList<PData>, PByteString>((self, rest) =>
    uncons(rest, others, (first, behind) => appendByteString(blake2b256(unBData(first)), self(behind))),
  )(contents),
)

/** Byte strings as data, one behind the other. */
export const joinedBytes = define<PList<PData>, PByteString>((parts) =>
  recursive<PList<PData>, PByteString>((self, rest) =>
    uncons(rest, bytes(new Uint8Array()), (first, others) => appendByteString(unBData(first), self(others))),
  )(parts),
)
