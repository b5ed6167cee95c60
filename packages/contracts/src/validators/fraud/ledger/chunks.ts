import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { longestChunk, maxChunkLength } from '@ratatosk/block'
import {
  addInteger,
  blake2b256,
  byteStringToInteger,
  bytes,
  equalsByteString,
  fail,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  lessThanInteger,
  sliceByteString,
  subtractInteger,
  unListData,
} from '../../core/builtins.js'
import { at, both, either } from '../../core/data.js'
import type { RuleBook } from '../../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import { fieldAt } from '../cbor/read.js'
import { BodyField, isThere } from '../cbor/references.js'
import { type Opening, positionOf, recordOf, type Supplied, type Transactions } from '../openings.js'
import { chunkHashOf, chunkKey, joinedBytes } from '../records.js'

/*
 * Chunks: consecutive transactions as `length 4 ‖ body`, `length 4 ‖ witness set`, `length 4 ‖ rest`.
 */

/** The entries that the transactions map of the header holds for chunks. */
export interface Chunks {
  /** A chunk's record. @param opening `[number, record, proof]`, and anything behind */
  chunkIn(opening: List): Bytes
  /** The bytes of a chunk. @param opening `[number, record, proof, parts]`: parts as supplied, in order */
  chunkBytesIn(opening: List): Bytes
  /** Where a transaction of a chunk begins, by its place from 0. */
  transactionAt(chunk: Bytes, place: Int): Int
}

/** The number of a chunk, from its opening. */
export const numberOf = positionOf

export function* chunksOf(book: RuleBook, { has }: Transactions, { suppliedAll }: Supplied): Opening<Chunks> {
  const chunkIn = yield* bind(
    lambda<PList<PData>, PByteString>((opening) =>
      scope(function* () {
        const record = yield* bind(recordOf(opening))
        yield* bind(
          book.enforce({ 'chunk-is-in-block': has(chunkKey(numberOf(opening)), record, at(opening, 2)) }),
        )
        return record
      }),
    ),
  )
  const chunkBytesIn = yield* bind(
    lambda<PList<PData>, PByteString>((opening) =>
      scope(function* () {
        const record = yield* bind(call<PByteString>(chunkIn, opening))
        const chunk = yield* bind(joinedBytes(suppliedAll(unListData(at(opening, 3)))))
        yield* bind(
          book.enforce({ 'chunk-is-recorded': equalsByteString(blake2b256(chunk), chunkHashOf(record)) }),
        )
        return chunk
      }),
    ),
  )
  const transactionAt = yield* bind(
    lambda<PByteString, PLam<PInt, PInt>>((chunk) =>
      lambda((place) =>
        scope(function* () {
          const start = yield* bind(startOf(chunk, place))
          yield* bind(
            book.enforce({
              'transaction-is-in-chunk': both(
                lessThanInteger(integer(-1), place),
                lessThanInteger(start, lengthOfByteString(chunk)),
              ),
            }),
          )
          return start
        }),
      ),
    ),
  )
  return {
    chunkIn: (opening) => call<PByteString>(chunkIn, opening),
    chunkBytesIn: (opening) => call<PByteString>(chunkBytesIn, opening),
    transactionAt: (chunk, place) => call<PInt>(transactionAt, chunk, place),
  }
}

/** The length of the frame at a place; 0 behind the last byte. */
const sizeAt = (chunk: Bytes, place: Int): Int =>
  byteStringToInteger(sliceByteString(place, integer(4), chunk))

export const behindFrame = defineOf<[PByteString, PInt], PInt>(2, (chunk, place) =>
  addInteger(addInteger(place, integer(4)), sizeAt(chunk, place)),
)

export const frameAt = defineOf<[PByteString, PInt], PByteString>(2, (chunk, place) =>
  sliceByteString(addInteger(place, integer(4)), sizeAt(chunk, place), chunk),
)

const behindTransaction = (chunk: Bytes, place: Int): Int =>
  behindFrame(chunk, behindFrame(chunk, behindFrame(chunk, place)))

/** Where a transaction begins, by its place from 0; the first for places below; the end for those behind. */
const startOf = (chunk: Bytes, place: Int): Int =>
  scope(function* () {
    const length = yield* bind(lengthOfByteString(chunk))
    return call<PInt>(
      recursive<PInt, PLam<PInt, PInt>>((self, left) =>
        lambda((start) =>
          choose(
            either(lessThanInteger(left, integer(1)), lessThanEqualsInteger(length, start)),
            start,
            call<PInt>(self(subtractInteger(left, integer(1))), behindTransaction(chunk, start)),
          ),
        ),
      )(place),
      integer(0),
    )
  })

/** How many transactions a chunk has; −1 if its frames do not end where it ends. */
export const sizeOf = define<PByteString, PInt>((chunk) =>
  scope(function* () {
    const length = yield* bind(lengthOfByteString(chunk))
    return call<PInt>(
      recursive<PInt, PLam<PInt, PInt>>((self, start) =>
        lambda((count) =>
          choose(
            lessThanInteger(start, length),
            call<PInt>(self(behindTransaction(chunk, start)), addInteger(count, integer(1))),
            choose(lessThanEqualsInteger(start, length), count, integer(-1)),
          ),
        ),
      )(integer(0)),
      integer(0),
    )
  }),
)

/** Whether a chunk is empty, has too many or too long transactions, or frames that end elsewhere. */
export const isMalformedChunk = (chunk: Bytes): Bool =>
  scope(function* () {
    const length = yield* bind(lengthOfByteString(chunk))
    return either(
      lessThanInteger(integer(longestChunk), length),
      either(
        lessThanInteger(sizeOf(chunk), integer(1)),
        both(
          lessThanInteger(integer(maxChunkLength), length),
          lessThanInteger(behindTransaction(chunk, integer(0)), length),
        ),
      ),
    )
  })

const hashHead = Uint8Array.of(0x58, 0x20)
const [isTrue, isNull] = [0xf5, 0xf6]

/**
 * Whether the bytes behind a witness set follow from the body; fails if the body's hash of auxiliary data is
 * not a string of 32 bytes in its shortest form.
 */
export const restFollows = (body: Bytes, rest: Bytes): Bool =>
  scope(function* () {
    const place = yield* bind(fieldAt(body, integer(0), BodyField.auxiliaryDataHash))
    const slice = (start: Int, length: number): Bytes => sliceByteString(start, integer(length), body)
    return choose(
      isThere(place),
      choose(
        equalsByteString(slice(place, 2), bytes(hashHead)),
        both(
          equalsByteString(sliceByteString(integer(0), integer(1), rest), bytes(Uint8Array.of(isTrue))),
          equalsByteString(
            slice(addInteger(place, integer(2)), 32),
            blake2b256(sliceByteString(integer(1), lengthOfByteString(rest), rest)),
          ),
        ),
        fail(),
      ),
      equalsByteString(rest, bytes(Uint8Array.of(isTrue, isNull))),
    )
  })
