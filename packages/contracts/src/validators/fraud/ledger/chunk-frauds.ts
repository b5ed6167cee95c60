import { frameHeads, maxChunkLength } from '@ratatosk/block'
import { ChunkFlaw } from '../../../fraud/layout.js'
import {
  addInteger,
  blake2b256,
  equalsByteString,
  equalsInteger,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  lessThanInteger,
  subtractInteger,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, both, branch, constructorOf, either, every, fieldsOf, not } from '../../core/data.js'
import { type Bytes, bind, choose, type Data, type Int, type List, scope } from '../../core/term.js'
import { isGiven, positionOf, recordOf } from '../openings.js'
import {
  bodyLengthOf,
  chunkCountOf,
  chunkKey,
  firstPositionOf,
  idOf,
  isEmpty,
  next,
  positionKey,
  witnessSetHashOf,
  witnessSetLengthOf,
} from '../records.js'
import { behindFrame, frameAt, isMalformedChunk, numberOf, restFollows, sizeOf } from './chunks.js'
import type { FraudCheck } from './opening.js'

/*
 * Frauds in the chunks of a block: its transactions in order, as many in each chunk as it may have.
 */

/** A chunk that a proof shows. */
const openingIn = (fields: List, index: number): List => unListData(at(fields, index))

/** Two chunks disagree about the number of chunks. `[chunk, chunk]` */
const countsDiffer: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const count = yield* bind(chunkCountOf(block.chunkIn(openingIn(fields, 0))))
    const other = yield* bind(chunkCountOf(block.chunkIn(openingIn(fields, 1))))
    return book.enforce({ 'chunk-counts-differ': not(equalsInteger(count, other)) })
  })

/** A chunk is beyond the number of chunks, or is the first and does not begin at position 0. `[chunk]` */
const misplaced: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(openingIn(fields, 0))
    const chunk = yield* bind(block.chunkIn(opening))
    const number = yield* bind(numberOf(opening))
    return book.enforce({
      'chunk-is-misplaced': either(
        lessThanEqualsInteger(chunkCountOf(chunk), number),
        both(equalsInteger(number, integer(0)), lessThanInteger(integer(0), firstPositionOf(chunk))),
      ),
    })
  })

/**
 * A chunk is missing. `[number, proof, holder]`: a chunk that counts it, or (first) a transaction's record
 */
const missing: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const number = yield* bind(unIData(at(fields, 0)))
    const holder = yield* bind(at(fields, 2))
    const opening = yield* bind(openingIn(fieldsOf(holder), 0))
    // A block with a transaction has one chunk at least.
    const count = yield* bind(
      choose(
        isGiven(holder),
        chunkCountOf(block.chunkIn(opening)),
        choose(isEmpty(block.recordIn(opening)), integer(0), integer(1)),
      ),
    )
    return book.enforce({
      'chunk-is-missing': block.lacks(chunkKey(number), at(fields, 1)),
      'chunk-is-due': lessThanInteger(number, count),
    })
  })

interface Shown {
  readonly number: Int
  readonly record: Bytes
  readonly chunk: Bytes
  /** The data that the proof shows besides. */
  readonly other: Data
}

/** @param check of a chunk that is shown with its bytes: `[chunk, other]` */
const ofChunk =
  (
    check: (...args: readonly [...Parameters<FraudCheck>, shown: Shown]) => ReturnType<FraudCheck>,
  ): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const opening = yield* bind(openingIn(fields, 0))
      const chunk = yield* bind(block.chunkBytesIn(opening))
      const record = yield* bind(recordOf(opening))
      const shown = { number: numberOf(opening), record, chunk, other: at(fields, 1) }
      return check(book, block, fields, shown)
    })

/** The position behind the last transaction of a chunk. */
const endOf = ({ record, chunk }: Shown): Int => addInteger(firstPositionOf(record), sizeOf(chunk))

/** The next chunk does not begin where a chunk ends. `[chunk, next chunk]` */
const nextElsewhere: FraudCheck = ofChunk((book, block, _, shown) =>
  scope(function* () {
    const opening = yield* bind(unListData(shown.other))
    const following = yield* bind(block.chunkIn(opening))
    return book.enforce({
      'chunk-is-next': equalsInteger(numberOf(opening), next(shown.number)),
      'next-chunk-begins-elsewhere': not(equalsInteger(firstPositionOf(following), endOf(shown))),
    })
  }),
)

/** There is a transaction behind the last chunk. `[chunk, record]` */
const transactionsLeft: FraudCheck = ofChunk((book, block, _, shown) =>
  scope(function* () {
    const opening = yield* bind(unListData(shown.other))
    yield* bind(block.recordIn(opening))
    return book.enforce({
      'chunk-is-last': equalsInteger(next(shown.number), chunkCountOf(shown.record)),
      'transaction-is-behind-chunk': lessThanEqualsInteger(endOf(shown), positionOf(opening)),
    })
  }),
)

/** The block has no transaction at a position before the end of a chunk. `[chunk, [position, proof]]` */
const inventedTransaction: FraudCheck = ofChunk((book, block, _, shown) =>
  scope(function* () {
    const absent = yield* bind(unListData(shown.other))
    const position = yield* bind(unIData(at(absent, 0)))
    return book.enforce({
      'position-is-missing': block.lacks(positionKey(position), at(absent, 1)),
      'position-is-in-chunk': lessThanInteger(position, endOf(shown)),
    })
  }),
)

/** A body or witness set of a chunk, or its length, is not that of the record. `[chunk, record]` */
const otherTransaction: FraudCheck = ofChunk((book, block, _, { record, chunk, other }) =>
  scope(function* () {
    const opening = yield* bind(unListData(other))
    const transaction = yield* bind(block.recordIn(opening))
    const body = yield* bind(
      block.transactionAt(chunk, subtractInteger(positionOf(opening), firstPositionOf(record))),
    )
    const bodyShown = yield* bind(frameAt(chunk, body))
    const witnessesShown = yield* bind(frameAt(chunk, behindFrame(chunk, body)))
    return book.enforce({
      'transaction-is-another': not(
        every(
          equalsByteString(blake2b256(bodyShown), idOf(transaction)),
          equalsByteString(blake2b256(witnessesShown), witnessSetHashOf(transaction)),
          equalsInteger(lengthOfByteString(bodyShown), bodyLengthOf(transaction)),
          equalsInteger(lengthOfByteString(witnessesShown), witnessSetLengthOf(transaction)),
        ),
      ),
    })
  }),
)

/** The bytes behind a witness set do not follow from the body. `[chunk, place in the chunk]` */
const strangeRest: FraudCheck = ofChunk((book, block, _, { chunk, other }) =>
  scope(function* () {
    const body = yield* bind(block.transactionAt(chunk, unIData(other)))
    const rest = behindFrame(chunk, behindFrame(chunk, body))
    return book.enforce({
      'rest-does-not-follow': not(restFollows(frameAt(chunk, body), frameAt(chunk, rest))),
    })
  }),
)

/** A chunk is empty, too long for its transactions, or its frames do not end where it ends. `[chunk]` */
const malformed: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const chunk = yield* bind(block.chunkBytesIn(openingIn(fields, 0)))
    return book.enforce({ 'chunk-is-malformed': isMalformedChunk(chunk) })
  })

/** A chunk has room for the next transaction. `[chunk, [transaction, rest]]` */
const tooShort: FraudCheck = ofChunk((book, block, _, shown) =>
  scope(function* () {
    const parts = yield* bind(unListData(shown.other))
    const opening = yield* bind(unListData(at(parts, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const rest = yield* bind(block.supplied(at(parts, 1)))
    const record = recordOf(opening)
    const length = [
      lengthOfByteString(shown.chunk),
      bodyLengthOf(record),
      witnessSetLengthOf(record),
      lengthOfByteString(rest),
    ].reduce(addInteger, integer(frameHeads))
    return book.enforce({
      'transaction-is-behind-chunk': equalsInteger(positionOf(opening), endOf(shown)),
      'rest-follows': restFollows(body, rest),
      'chunk-has-room': lessThanEqualsInteger(length, integer(maxChunkLength)),
    })
  }),
)

/** Chunks are not those of the transactions. `[flaw]` */
export const wrongChunk: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const flaw = yield* bind(at(fields, 0))
    const shown = yield* bind(fieldsOf(flaw))
    const checks = [
      [ChunkFlaw.countsDiffer, countsDiffer],
      [ChunkFlaw.misplaced, misplaced],
      [ChunkFlaw.missing, missing],
      [ChunkFlaw.nextElsewhere, nextElsewhere],
      [ChunkFlaw.transactionsLeft, transactionsLeft],
      [ChunkFlaw.inventedTransaction, inventedTransaction],
      [ChunkFlaw.otherTransaction, otherTransaction],
      [ChunkFlaw.strangeRest, strangeRest],
      [ChunkFlaw.malformed, malformed],
      [ChunkFlaw.tooShort, tooShort],
    ] as const
    return branch(
      constructorOf(flaw),
      ...checks.map(([index, check]) => [index, check(book, block, shown)] as const),
    )
  })
