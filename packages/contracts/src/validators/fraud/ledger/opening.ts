import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { longestChunk, maxChunkLength } from '@ratatosk/block'
import { hasKey, lookUp, resolvedOf, valueFieldOf } from '../../core/context.js'
import { at, both, either, itemAt, itemsBehind, not } from '../../core/data.js'
import type { RuleBook } from '../../core/rules.js'
import * as p from '../../core/term.js'
import { fieldAt, untagged, withFields } from '../cbor/read.js'
import { BodyField, isThere, keysBefore } from '../cbor/references.js'
import {
  type Accused,
  accused,
  type FraudCheck as Check,
  type Evidence,
  type Frauds,
  type Opening,
  positionOf,
  recordOf,
  type Supplied,
  type Transactions,
  witnessSetsOf,
} from '../policy.js'
import { chunkHashOf, chunkKey, joinedBytes, positionKey, resolvedHashOf } from '../records.js'
import { hashUnder } from './resolved-frauds.js'

/** The parts of a header that the frauds of the ledger policy read. */
export interface LedgerBlock extends Accused, Supplied, Chunks, Resolutions {}

export type FraudCheck = Check<LedgerBlock>

export const openLedger: Frauds<LedgerBlock>['open'] = function* (book, evidence): Opening<LedgerBlock> {
  const block = yield* accused(book, evidence)
  const supplied = yield* witnessSetsOf(book, evidence)
  const chunks = yield* chunksOf(book, block, supplied)
  return { ...block, ...supplied, ...chunks, ...resolutionsOf(evidence) }
}

/*
 * Chunks: consecutive transactions as `length 4 ‖ body`, `length 4 ‖ witness set`, `length 4 ‖ rest`.
 */

/** The entries that the transactions map of the header holds for chunks. */
interface Chunks {
  /** A chunk's record. @param opening `[number, record, proof]`, and anything behind */
  chunkIn(opening: p.List): p.Bytes
  /** The bytes of a chunk. @param opening `[number, record, proof, parts]`: parts as supplied, in order */
  chunkBytesIn(opening: p.List): p.Bytes
  /** Where a transaction of a chunk begins, by its place from 0. */
  transactionAt(chunk: p.Bytes, place: p.Int): p.Int
}

/** The number of a chunk, from its opening. */
export const numberOf = positionOf

function* chunksOf(book: RuleBook, { has }: Transactions, { suppliedAll }: Supplied): Opening<Chunks> {
  const chunkIn = yield* p.bind(
    p.lambda<PList<PData>, PByteString>((opening) =>
      p.scope(function* () {
        const record = yield* p.bind(recordOf(opening))
        yield* p.bind(
          book.enforce({ 'chunk-is-in-block': has(chunkKey(numberOf(opening)), record, at(opening, 2)) }),
        )
        return record
      }),
    ),
  )
  const chunkBytesIn = yield* p.bind(
    p.lambda<PList<PData>, PByteString>((opening) =>
      p.scope(function* () {
        const record = yield* p.bind(p.call<PByteString>(chunkIn, opening))
        const chunk = yield* p.bind(joinedBytes(suppliedAll(p.unListData(at(opening, 3)))))
        yield* p.bind(
          book.enforce({ 'chunk-is-recorded': p.equalsByteString(p.blake2b256(chunk), chunkHashOf(record)) }),
        )
        return chunk
      }),
    ),
  )
  const transactionAt = yield* p.bind(
    p.lambda<PByteString, PLam<PInt, PInt>>((chunk) =>
      p.lambda((place) =>
        p.scope(function* () {
          const start = yield* p.bind(startOf(chunk, place))
          yield* p.bind(
            book.enforce({
              'transaction-is-in-chunk': both(
                p.lessThanInteger(p.integer(-1), place),
                p.lessThanInteger(start, p.lengthOfByteString(chunk)),
              ),
            }),
          )
          return start
        }),
      ),
    ),
  )
  return {
    chunkIn: (opening) => p.call<PByteString>(chunkIn, opening),
    chunkBytesIn: (opening) => p.call<PByteString>(chunkBytesIn, opening),
    transactionAt: (chunk, place) => p.call<PInt>(transactionAt, chunk, place),
  }
}

/** The length of the frame at a place; 0 behind the last byte. */
const sizeAt = (chunk: p.Bytes, place: p.Int): p.Int =>
  p.byteStringToInteger(p.sliceByteString(place, p.integer(4), chunk))

export const behindFrame = p.defineOf<[PByteString, PInt], PInt>(2, (chunk, place) =>
  p.addInteger(p.addInteger(place, p.integer(4)), sizeAt(chunk, place)),
)

export const frameAt = p.defineOf<[PByteString, PInt], PByteString>(2, (chunk, place) =>
  p.sliceByteString(p.addInteger(place, p.integer(4)), sizeAt(chunk, place), chunk),
)

const behindTransaction = (chunk: p.Bytes, place: p.Int): p.Int =>
  behindFrame(chunk, behindFrame(chunk, behindFrame(chunk, place)))

/** Where a transaction begins, by its place from 0; the first for places below; the end for those behind. */
const startOf = (chunk: p.Bytes, place: p.Int): p.Int =>
  p.scope(function* () {
    const length = yield* p.bind(p.lengthOfByteString(chunk))
    return p.call<PInt>(
      p.recursive<PInt, PLam<PInt, PInt>>((self, left) =>
        p.lambda((start) =>
          p.choose(
            either(p.lessThanInteger(left, p.integer(1)), p.lessThanEqualsInteger(length, start)),
            start,
            p.call<PInt>(self(p.subtractInteger(left, p.integer(1))), behindTransaction(chunk, start)),
          ),
        ),
      )(place),
      p.integer(0),
    )
  })

/** How many transactions a chunk has; −1 if its frames do not end where it ends. */
export const sizeOf = p.define<PByteString, PInt>((chunk) =>
  p.scope(function* () {
    const length = yield* p.bind(p.lengthOfByteString(chunk))
    return p.call<PInt>(
      p.recursive<PInt, PLam<PInt, PInt>>((self, start) =>
        p.lambda((count) =>
          p.choose(
            p.lessThanInteger(start, length),
            p.call<PInt>(self(behindTransaction(chunk, start)), p.addInteger(count, p.integer(1))),
            p.choose(p.lessThanEqualsInteger(start, length), count, p.integer(-1)),
          ),
        ),
      )(p.integer(0)),
      p.integer(0),
    )
  }),
)

/** Whether a chunk is empty, has too many or too long transactions, or frames that end elsewhere. */
export const isMalformedChunk = (chunk: p.Bytes): p.Bool =>
  p.scope(function* () {
    const length = yield* p.bind(p.lengthOfByteString(chunk))
    return either(
      p.lessThanInteger(p.integer(longestChunk), length),
      either(
        p.lessThanInteger(sizeOf(chunk), p.integer(1)),
        both(
          p.lessThanInteger(p.integer(maxChunkLength), length),
          p.lessThanInteger(behindTransaction(chunk, p.integer(0)), length),
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
export const restFollows = (body: p.Bytes, rest: p.Bytes): p.Bool =>
  p.scope(function* () {
    const place = yield* p.bind(fieldAt(body, p.integer(0), BodyField.auxiliaryDataHash))
    const slice = (start: p.Int, length: number): p.Bytes => p.sliceByteString(start, p.integer(length), body)
    return p.choose(
      isThere(place),
      p.choose(
        p.equalsByteString(slice(place, 2), p.bytes(hashHead)),
        both(
          p.equalsByteString(
            p.sliceByteString(p.integer(0), p.integer(1), rest),
            p.bytes(Uint8Array.of(isTrue)),
          ),
          p.equalsByteString(
            slice(p.addInteger(place, p.integer(2)), 32),
            p.blake2b256(p.sliceByteString(p.integer(1), p.lengthOfByteString(rest), rest)),
          ),
        ),
        p.fail(),
      ),
      p.equalsByteString(rest, p.bytes(Uint8Array.of(isTrue, isNull))),
    )
  })

/*
 * Resolutions: what references of a transaction stand for, where the hashes of the record are not known. One
 * proof of all has no bound, because the maker of an output chooses how deep it is in the maps. So tokens
 * show parts, each of consecutive references, and the proof refers to the tokens.
 */

/** The tokens that show what references of the header's transactions stand for. */
interface Resolutions {
  /** The beginning of each token's name before it is hashed. */
  about(position: p.Int): p.Bytes
  /** Whether a reference input holds the token with a name. */
  holds(referenceInput: p.Int, name: p.Bytes): p.Bool
}

const resolutionsOf = ({ headerHash, referenceInputs, policy }: Evidence): Resolutions => ({
  about: (position) => p.appendByteString(headerHash, positionKey(position)),
  holds: (referenceInput, name) =>
    p.scope(function* () {
      const value = yield* p.bind(
        p.unMapData(valueFieldOf(resolvedOf(itemAt(referenceInputs, referenceInput)))),
      )
      return both(hasKey(value, policy), hasKey(p.unMapData(lookUp(value, policy)), p.bData(name)))
    }),
})

/**
 * The name of the token of the references from `first` up to `next`. A part that ends the references has
 * another name: only with it are the hashes those of all. A reference to nothing adds no hash.
 */
const nameOf = p.defineOf<[PByteString, PInt, PInt, PInt, PByteString], PByteString>(
  5,
  (about, first, next, isLast, hashes) =>
    p.blake2b256(
      p.appendByteString(
        about,
        p.appendByteString(
          p.integerToByteString(4, first),
          p.appendByteString(p.integerToByteString(4, next), p.consByteString(isLast, hashes)),
        ),
      ),
    ),
)

/**
 * The name of the token that shows what some inputs and, behind them, reference inputs stand for:
 * `[transaction, first, outputs]`, with a list of `[output, before]`, one for each reference.
 */
export const resolutionName = (block: Accused & Resolutions, fields: p.List): p.Bytes =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const first = yield* p.bind(p.unIData(at(fields, 1)))
    const about = yield* p.bind(block.about(positionOf(opening)))
    const named = (keys: p.List) =>
      p.call<PByteString>(
        p.recursive<PList<PData>, PLam<PList<PData>, PLam<PInt, PLam<PByteString, PByteString>>>>(
          (self, outputs) =>
            p.lambda((rest) =>
              p.lambda((next) =>
                p.lambda((hashes) =>
                  p.choose(
                    p.nullList(outputs),
                    nameOf(
                      about,
                      first,
                      next,
                      p.choose(p.nullList(rest), p.integer(1), p.integer(0)),
                      hashes,
                    ),
                    p.scope(function* () {
                      const output = yield* p.bind(p.unListData(p.headList(outputs)))
                      return p.call<PByteString>(
                        self(p.tailList(outputs)),
                        p.tailList(rest),
                        p.addInteger(next, p.integer(1)),
                        p.appendByteString(
                          hashes,
                          hashUnder(block, p.unBData(p.headList(rest)), at(output, 0), at(output, 1)),
                        ),
                      )
                    }),
                  ),
                ),
              ),
            ),
        )(p.unListData(at(fields, 2))),
        itemsBehind(keys, first),
        first,
        p.bytes(new Uint8Array()),
      )
    return withFields(body, [BodyField.inputs, BodyField.referenceInputs], (inputs, read) =>
      named(
        keysBefore(
          body,
          untagged(body, inputs),
          p.choose(isThere(read), keysBefore(body, untagged(body, read), p.listOf()), p.listOf()),
        ),
      ),
    )
  })

/**
 * The hash of a transaction's record is not that of the outputs that inputs and, behind them, reference
 * inputs stand for: also where no one knows of what it is. `[position, record, proof, parts]`: each part is
 * `[hashes, next, reference input]`, the next begins at the reference `next`
 */
export const wrongResolvedHash: Check<Accused & Resolutions> = (book, block, fields) =>
  p.scope(function* () {
    const record = yield* p.bind(block.transactionIn(fields))
    const about = yield* p.bind(block.about(positionOf(fields)))
    const hashes = yield* p.bind(
      p.call<PByteString>(
        p.recursive<PList<PData>, PLam<PInt, PByteString>>((self, parts) =>
          p.lambda((first) =>
            p.scope(function* () {
              const part = yield* p.bind(p.unListData(p.headList(parts)))
              const rest = yield* p.bind(p.tailList(parts))
              const isLast = yield* p.bind(p.nullList(rest))
              const shown = yield* p.bind(p.unBData(at(part, 0)))
              const next = yield* p.bind(p.unIData(at(part, 1)))
              const name = nameOf(about, first, next, p.choose(isLast, p.integer(1), p.integer(0)), shown)
              yield* p.bind(book.enforce({ 'part-is-shown': block.holds(p.unIData(at(part, 2)), name) }))
              return p.choose(isLast, shown, p.appendByteString(shown, p.call<PByteString>(self(rest), next)))
            }),
          ),
        )(p.unListData(at(fields, 3))),
        p.integer(0),
      ),
    )
    return book.enforce({
      'resolved-is-wrong': not(p.equalsByteString(p.blake2b256(hashes), resolvedHashOf(record))),
    })
  })
