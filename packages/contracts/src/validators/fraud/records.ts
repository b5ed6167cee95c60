import type { PByteString, PData, PList } from '@harmoniclabs/plu-ts'
import {
  chunkKind,
  chunkRecordLength,
  maxChunks,
  outputRecordLength,
  transactionRecordLength,
} from '@ratatosk/block'
import { both, every } from '../core/data.js'
import * as p from '../core/term.js'

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
export const positionKey = (position: p.Int): p.Bytes => p.integerToByteString(8, position)

export const chunkKeyLength = 4

/** The key of a chunk in the map; fails for a negative number. */
export const chunkKey = (chunk: p.Int): p.Bytes => p.integerToByteString(chunkKeyLength, chunk)

const part = (record: p.Bytes, offset: number, length: number): p.Bytes =>
  p.sliceByteString(p.integer(offset), p.integer(length), record)

const number = (record: p.Bytes, offset: number, length = 8): p.Int =>
  p.byteStringToInteger(part(record, offset, length))

export const idOf = (transaction: p.Bytes): p.Bytes => part(transaction, transactionRecord.id, hashBytes)

export const witnessSetHashOf = (transaction: p.Bytes): p.Bytes =>
  part(transaction, transactionRecord.witnessSetHash, hashBytes)

export const resolvedHashOf = (transaction: p.Bytes): p.Bytes =>
  part(transaction, transactionRecord.resolved, hashBytes)

export const feesSoFarOf = (transaction: p.Bytes): p.Int => number(transaction, transactionRecord.feesSoFar)

export const bodyLengthOf = (transaction: p.Bytes): p.Int =>
  number(transaction, transactionRecord.bodyLength, 4)

export const witnessSetLengthOf = (transaction: p.Bytes): p.Int =>
  number(transaction, transactionRecord.witnessSetLength, 4)

export const firstPositionOf = (chunk: p.Bytes): p.Int => number(chunk, chunkRecord.first)

export const chunkCountOf = (chunk: p.Bytes): p.Int => number(chunk, chunkRecord.chunks)

export const chunkHashOf = (chunk: p.Bytes): p.Bytes => part(chunk, chunkRecord.hash, hashBytes)

/** One more than the position of the output's maker; 0 for an output from before the block. */
export const createdOf = (output: p.Bytes): p.Int => number(output, outputRecord.created)

/**
 * One more than the position of the transaction that spends the output; 0 if unspent after the block, and
 * {@link left} if the output leaves layer 2.
 */
export const spentOf = (output: p.Bytes): p.Int => number(output, outputRecord.spent)

/** The spender of an output that leaves layer 2: no output is spent at the position before. */
const left = 2n ** 63n

export const hasLeft = (spent: p.Int): p.Bool => p.equalsInteger(spent, p.integer(left))

export const outputHashOf = (output: p.Bytes): p.Bytes => part(output, outputRecord.hash, hashBytes)

const isLength = (content: p.Bytes, length: number): p.Bool =>
  p.equalsInteger(p.lengthOfByteString(content), p.integer(length))

/** Whether a value of the map is a record of a transaction: a block of this version has no other kind. */
export const isTransactionRecord = (value: p.Bytes): p.Bool =>
  both(
    isLength(value, transactionRecord.length),
    p.equalsInteger(p.indexByteString(value, p.integer(transactionRecord.kind)), p.integer(transactionKind)),
  )

/** Whether a value of the map is a record of a chunk, of as many as a block may have. */
export const isChunkRecord = (value: p.Bytes): p.Bool =>
  every(
    isLength(value, chunkRecord.length),
    p.equalsInteger(p.indexByteString(value, p.integer(chunkRecord.kind)), p.integer(chunkKind)),
    p.lessThanEqualsInteger(chunkCountOf(value), p.integer(maxChunks)),
  )

export const isOutputRecord = (value: p.Bytes): p.Bool => isLength(value, outputRecord.length)

export const isEmpty = (content: p.Bytes): p.Bool => isLength(content, 0)

/** One more than a position: what the record of an output notes of a transaction. */
export const next = (position: p.Int): p.Int => p.addInteger(position, p.integer(1))

export const previous = (noted: p.Int): p.Int => p.subtractInteger(noted, p.integer(1))

/** The Blake2b-256 hashes of byte strings as data, one behind the other, before others. */
export const hashesBefore = p.defineOf<[PList<PData>, PByteString], PByteString>(2, (contents, others) =>
  p.recursive<PList<PData>, PByteString>((self, rest) =>
    p.uncons(rest, others, (first, behind) =>
      p.appendByteString(p.blake2b256(p.unBData(first)), self(behind)),
    ),
  )(contents),
)

/** Byte strings as data, one behind the other. */
export const joinedBytes = p.define<PList<PData>, PByteString>((parts) =>
  p.recursive<PList<PData>, PByteString>((self, rest) =>
    p.uncons(rest, p.bytes(new Uint8Array()), (first, others) =>
      p.appendByteString(p.unBData(first), self(others)),
    ),
  )(parts),
)
