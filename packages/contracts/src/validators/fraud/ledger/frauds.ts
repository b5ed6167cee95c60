import { frameHeads, maxChunkLength } from '@ratatosk/block'
import { profileLimits } from '@ratatosk/ledger'
import { ChunkFlaw, LedgerFraud, LedgerPart } from '../../../layout.js'
import { at, both, branch, constructorOf, either, every, fieldsOf, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { isPath } from '../../mpf/proof.js'
import { argumentAt, elementAt, fieldAt } from '../cbor/read.js'
import { BodyField, isReference, isThere, keyOfOutput } from '../cbor/references.js'
import { itemBytes } from '../cbor/skip.js'
import { type Frauds, isGiven, positionOf, recordOf } from '../policy.js'
import {
  bodyLengthOf,
  chunkCountOf,
  chunkKey,
  chunkKeyLength,
  createdOf,
  feesSoFarOf,
  firstPositionOf,
  idOf,
  isChunkRecord,
  isEmpty,
  isOutputRecord,
  isTransactionRecord,
  joinedBytes,
  next,
  outputHashOf,
  positionKey,
  previous,
  spentOf,
  witnessSetHashOf,
  witnessSetLengthOf,
} from '../records.js'
import {
  behindFrame,
  type FraudCheck,
  frameAt,
  isMalformedChunk,
  type LedgerBlock,
  numberOf,
  openLedger,
  resolutionName,
  restFollows,
  sizeOf,
  wrongResolvedHash,
} from './opening.js'
import {
  inputSpentElsewhere,
  referenceInputMissing,
  spentBeforeMade,
  spentWithoutInput,
  strayFromBefore,
  wrongResolved,
} from './resolved-frauds.js'

/*
 * Frauds in the lengths that a transaction's record gives.
 */

/** A length of the record is wrong. `[part]`: `Body [transaction]` or `WitnessSet [record, witness set]` */
const wrongLength: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const shown = yield* p.bind(at(fields, 0))
    const part = yield* p.bind(fieldsOf(shown))
    const opening = yield* p.bind(p.unListData(at(part, 0)))
    const record = yield* p.bind(recordOf(opening))
    const isRight = yield* p.bind(
      p.choose(
        isGiven(shown),
        p.equalsInteger(p.lengthOfByteString(block.bodyIn(opening)), bodyLengthOf(record)),
        p.equalsInteger(
          p.lengthOfByteString(block.witnessSetIn(block.transactionIn(opening), at(part, 1))),
          witnessSetLengthOf(record),
        ),
      ),
    )
    return book.enforce({ 'length-is-wrong': not(isRight) })
  })

/** A body or witness set is longer than layer 2 allows, by its record. `[position, record, proof]` */
const tooLong: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const record = yield* p.bind(block.transactionIn(fields))
    return book.enforce({
      'transaction-is-too-long': either(
        p.lessThanInteger(p.integer(profileLimits.bodyBytes), bodyLengthOf(record)),
        p.lessThanInteger(p.integer(profileLimits.witnessSetBytes), witnessSetLengthOf(record)),
      ),
    })
  })

/*
 * Frauds in what a block does to outputs. Each is the negation of a rule that every valid block keeps, shown
 * at one key of the header's maps.
 */

/** Output `index` is not noted, or with another maker or hash. `[transaction, index, output]` */
const outputNotNoted: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const index = yield* p.bind(p.unIData(at(fields, 1)))
    const place = yield* p.bind(elementAt(body, fieldAt(body, p.integer(0), BodyField.outputs), index))
    const output = yield* p.bind(block.outputIn(keyOfOutput(idOf(recordOf(opening)), index), at(fields, 2)))
    return book.enforce({
      'output-is-in-body': isThere(place),
      'output-is-not-noted': not(
        both(
          p.equalsInteger(createdOf(output), next(positionOf(opening))),
          p.equalsByteString(outputHashOf(output), p.blake2b256(itemBytes(body, place))),
        ),
      ),
    })
  })

/** The noted maker of an output is not in the block or does not make it. `[key, output, maker]` */
const inventedOutput: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const key = yield* p.bind(p.unBData(at(fields, 0)))
    const output = yield* p.bind(block.outputIn(key, at(fields, 1)))
    const created = yield* p.bind(createdOf(output))
    const maker = yield* p.bind(at(fields, 2))
    const shown = yield* p.bind(fieldsOf(maker))
    return branch(
      constructorOf(maker),
      // There is no such transaction.
      [0, book.enforce({ 'maker-is-missing': block.lacks(positionKey(previous(created)), at(shown, 0)) })],
      // Its id is not the one in the reference.
      [
        1,
        p.scope(function* () {
          const id = yield* p.bind(idOf(block.recordIn(shown)))
          return book.enforce({
            'maker-is-noted': p.equalsInteger(created, next(positionOf(shown))),
            'maker-has-another-id': not(
              p.equalsByteString(id, p.sliceByteString(p.integer(3), p.integer(32), key)),
            ),
          })
        }),
      ],
      // It has fewer outputs.
      [
        2,
        p.scope(function* () {
          const opening = yield* p.bind(p.unListData(at(shown, 0)))
          const body = yield* p.bind(block.bodyIn(opening))
          const index = yield* p.bind(p.unIData(at(shown, 1)))
          const outputs = fieldAt(body, p.integer(0), BodyField.outputs)
          return book.enforce({
            'invented-output-is-noted': not(isEmpty(output)),
            'key-is-of-maker': p.equalsByteString(keyOfOutput(idOf(recordOf(opening)), index), key),
            'maker-has-fewer-outputs': not(isThere(elementAt(body, outputs, index))),
          })
        }),
      ],
    )
  })

/**
 * The outputs after the block do not follow from those before it, at one path: the hash of a key, which may
 * be unknown. `[path, output, before, after]`; `before` is read if the block does not note the output.
 */
const wrongOutputsAfter: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const path = yield* p.bind(p.unBData(at(fields, 0)))
    const output = yield* p.bind(block.outputAt(path, at(fields, 1)))
    const after = yield* p.bind(block.hashAt('after', path, at(fields, 3)))
    const expected = yield* p.bind(
      p.choose(
        isEmpty(output),
        block.hashAt('before', path, at(fields, 2)),
        p.choose(
          p.equalsInteger(spentOf(output), p.integer(0)),
          outputHashOf(output),
          p.bytes(new Uint8Array()),
        ),
      ),
    )
    return book.enforce({
      'path-is-of-leaf': isPath(path),
      'after-does-not-follow': not(p.equalsByteString(after, expected)),
    })
  })

/**
 * The block has a transaction, but not one before it. `[missing position, proof, position, record, proof]`
 */
const gapInTransactions: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const missing = yield* p.bind(p.unIData(at(fields, 0)))
    const later = yield* p.bind(p.tailList(p.tailList(fields)))
    yield* p.bind(block.recordIn(later))
    return book.enforce({
      'position-is-missing': block.lacks(positionKey(missing), at(fields, 1)),
      'position-is-before-transaction': p.lessThanInteger(missing, positionOf(later)),
    })
  })

/**
 * No valid block has an entry of the transactions map: it is neither a transaction's, nor a chunk's that
 * counts at most 1,024, nor that of an output. `[key, value, proof]`: key and value in parts as supplied
 */
const strangeEntry: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const key = yield* p.bind(joinedBytes(block.suppliedAll(p.unListData(at(fields, 0)))))
    const value = yield* p.bind(joinedBytes(block.suppliedAll(p.unListData(at(fields, 1)))))
    return book.enforce({
      'entry-is-in-block': block.has(key, value, at(fields, 2)),
      'entry-is-strange': not(
        p.choose(
          p.equalsInteger(p.lengthOfByteString(key), p.integer(8)),
          isTransactionRecord(value),
          p.choose(
            p.equalsInteger(p.lengthOfByteString(key), p.integer(chunkKeyLength)),
            isChunkRecord(value),
            both(isReference(key), isOutputRecord(value)),
          ),
        ),
      ),
    })
  })

/** The fees so far are not those before the transaction and its own. `[transaction, previous]` */
const wrongFees: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const fee = argumentAt(body, fieldAt(body, p.integer(0), BodyField.fee))
    const position = yield* p.bind(positionOf(opening))
    const before = yield* p.bind(at(fields, 1))
    const earlier = yield* p.bind(fieldsOf(before))
    const first = yield* p.bind(not(isGiven(before)))
    const feesBefore = yield* p.bind(p.choose(first, p.integer(0), feesSoFarOf(block.recordIn(earlier))))
    const follows = p.choose(first, position, p.subtractInteger(position, next(positionOf(earlier))))
    return book.enforce({
      'fees-before-are-those-before': p.equalsInteger(follows, p.integer(0)),
      'fees-so-far-are-wrong': not(
        p.equalsInteger(feesSoFarOf(recordOf(opening)), p.addInteger(feesBefore, fee)),
      ),
    })
  })

/*
 * Frauds in the chunks of a block: its transactions in order, as many in each chunk as it may have.
 */

/** A chunk that a proof shows. */
const openingIn = (fields: p.List, index: number): p.List => p.unListData(at(fields, index))

/** Two chunks disagree about the number of chunks. `[chunk, chunk]` */
const countsDiffer: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const count = yield* p.bind(chunkCountOf(block.chunkIn(openingIn(fields, 0))))
    const other = yield* p.bind(chunkCountOf(block.chunkIn(openingIn(fields, 1))))
    return book.enforce({ 'chunk-counts-differ': not(p.equalsInteger(count, other)) })
  })

/** A chunk is beyond the number of chunks, or is the first and does not begin at position 0. `[chunk]` */
const misplaced: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(openingIn(fields, 0))
    const chunk = yield* p.bind(block.chunkIn(opening))
    const number = yield* p.bind(numberOf(opening))
    return book.enforce({
      'chunk-is-misplaced': either(
        p.lessThanEqualsInteger(chunkCountOf(chunk), number),
        both(p.equalsInteger(number, p.integer(0)), p.lessThanInteger(p.integer(0), firstPositionOf(chunk))),
      ),
    })
  })

/**
 * A chunk is missing. `[number, proof, holder]`: a chunk that counts it, or (first) a transaction's record
 */
const missing: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const number = yield* p.bind(p.unIData(at(fields, 0)))
    const holder = yield* p.bind(at(fields, 2))
    const opening = yield* p.bind(openingIn(fieldsOf(holder), 0))
    // A block with a transaction has one chunk at least.
    const count = yield* p.bind(
      p.choose(
        isGiven(holder),
        chunkCountOf(block.chunkIn(opening)),
        p.choose(isEmpty(block.recordIn(opening)), p.integer(0), p.integer(1)),
      ),
    )
    return book.enforce({
      'chunk-is-missing': block.lacks(chunkKey(number), at(fields, 1)),
      'chunk-is-due': p.lessThanInteger(number, count),
    })
  })

interface Shown {
  readonly number: p.Int
  readonly record: p.Bytes
  readonly chunk: p.Bytes
  /** The data that the proof shows besides. */
  readonly other: p.Data
}

/** @param check of a chunk that is shown with its bytes: `[chunk, other]` */
const ofChunk =
  (
    check: (...args: readonly [...Parameters<FraudCheck>, shown: Shown]) => ReturnType<FraudCheck>,
  ): FraudCheck =>
  (book, block, fields) =>
    p.scope(function* () {
      const opening = yield* p.bind(openingIn(fields, 0))
      const chunk = yield* p.bind(block.chunkBytesIn(opening))
      const record = yield* p.bind(recordOf(opening))
      const shown = { number: numberOf(opening), record, chunk, other: at(fields, 1) }
      return check(book, block, fields, shown)
    })

/** The position behind the last transaction of a chunk. */
const endOf = ({ record, chunk }: Shown): p.Int => p.addInteger(firstPositionOf(record), sizeOf(chunk))

/** The next chunk does not begin where a chunk ends. `[chunk, next chunk]` */
const nextElsewhere: FraudCheck = ofChunk((book, block, _, shown) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(shown.other))
    const following = yield* p.bind(block.chunkIn(opening))
    return book.enforce({
      'chunk-is-next': p.equalsInteger(numberOf(opening), next(shown.number)),
      'next-chunk-begins-elsewhere': not(p.equalsInteger(firstPositionOf(following), endOf(shown))),
    })
  }),
)

/** There is a transaction behind the last chunk. `[chunk, record]` */
const transactionsLeft: FraudCheck = ofChunk((book, block, _, shown) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(shown.other))
    yield* p.bind(block.recordIn(opening))
    return book.enforce({
      'chunk-is-last': p.equalsInteger(next(shown.number), chunkCountOf(shown.record)),
      'transaction-is-behind-chunk': p.lessThanEqualsInteger(endOf(shown), positionOf(opening)),
    })
  }),
)

/** The block has no transaction at a position before the end of a chunk. `[chunk, [position, proof]]` */
const inventedTransaction: FraudCheck = ofChunk((book, block, _, shown) =>
  p.scope(function* () {
    const absent = yield* p.bind(p.unListData(shown.other))
    const position = yield* p.bind(p.unIData(at(absent, 0)))
    return book.enforce({
      'position-is-missing': block.lacks(positionKey(position), at(absent, 1)),
      'position-is-in-chunk': p.lessThanInteger(position, endOf(shown)),
    })
  }),
)

/** A body or witness set of a chunk, or its length, is not that of the record. `[chunk, record]` */
const otherTransaction: FraudCheck = ofChunk((book, block, _, { record, chunk, other }) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(other))
    const transaction = yield* p.bind(block.recordIn(opening))
    const body = yield* p.bind(
      block.transactionAt(chunk, p.subtractInteger(positionOf(opening), firstPositionOf(record))),
    )
    const bodyShown = yield* p.bind(frameAt(chunk, body))
    const witnessesShown = yield* p.bind(frameAt(chunk, behindFrame(chunk, body)))
    return book.enforce({
      'transaction-is-another': not(
        every(
          p.equalsByteString(p.blake2b256(bodyShown), idOf(transaction)),
          p.equalsByteString(p.blake2b256(witnessesShown), witnessSetHashOf(transaction)),
          p.equalsInteger(p.lengthOfByteString(bodyShown), bodyLengthOf(transaction)),
          p.equalsInteger(p.lengthOfByteString(witnessesShown), witnessSetLengthOf(transaction)),
        ),
      ),
    })
  }),
)

/** The bytes behind a witness set do not follow from the body. `[chunk, place in the chunk]` */
const strangeRest: FraudCheck = ofChunk((book, block, _, { chunk, other }) =>
  p.scope(function* () {
    const body = yield* p.bind(block.transactionAt(chunk, p.unIData(other)))
    const rest = behindFrame(chunk, behindFrame(chunk, body))
    return book.enforce({
      'rest-does-not-follow': not(restFollows(frameAt(chunk, body), frameAt(chunk, rest))),
    })
  }),
)

/** A chunk is empty, too long for its transactions, or its frames do not end where it ends. `[chunk]` */
const malformed: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const chunk = yield* p.bind(block.chunkBytesIn(openingIn(fields, 0)))
    return book.enforce({ 'chunk-is-malformed': isMalformedChunk(chunk) })
  })

/** A chunk has room for the next transaction. `[chunk, [transaction, rest]]` */
const tooShort: FraudCheck = ofChunk((book, block, _, shown) =>
  p.scope(function* () {
    const parts = yield* p.bind(p.unListData(shown.other))
    const opening = yield* p.bind(p.unListData(at(parts, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const rest = yield* p.bind(block.supplied(at(parts, 1)))
    const record = recordOf(opening)
    const length = [
      p.lengthOfByteString(shown.chunk),
      bodyLengthOf(record),
      witnessSetLengthOf(record),
      p.lengthOfByteString(rest),
    ].reduce(p.addInteger, p.integer(frameHeads))
    return book.enforce({
      'transaction-is-behind-chunk': p.equalsInteger(positionOf(opening), endOf(shown)),
      'rest-follows': restFollows(body, rest),
      'chunk-has-room': p.lessThanEqualsInteger(length, p.integer(maxChunkLength)),
    })
  }),
)

/** Chunks are not those of the transactions. `[flaw]` */
const wrongChunk: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const flaw = yield* p.bind(at(fields, 0))
    const shown = yield* p.bind(fieldsOf(flaw))
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

/** The frauds that the ledger policy knows, by their constructors in the redeemer. */
export const ledgerFrauds: Frauds<LedgerBlock> = {
  open: openLedger,
  checks: [
    [LedgerFraud.inputSpentElsewhere, inputSpentElsewhere],
    [LedgerFraud.spentWithoutInput, spentWithoutInput],
    [LedgerFraud.outputNotNoted, outputNotNoted],
    [LedgerFraud.inventedOutput, inventedOutput],
    [LedgerFraud.strayFromBefore, strayFromBefore],
    [LedgerFraud.spentBeforeMade, spentBeforeMade],
    [LedgerFraud.wrongOutputsAfter, wrongOutputsAfter],
    [LedgerFraud.wrongResolved, wrongResolved],
    [LedgerFraud.referenceInputMissing, referenceInputMissing],
    [LedgerFraud.gapInTransactions, gapInTransactions],
    [LedgerFraud.strangeEntry, strangeEntry],
    [LedgerFraud.wrongFees, wrongFees],
    [LedgerFraud.wrongResolvedHash, wrongResolvedHash],
    [LedgerFraud.wrongLength, wrongLength],
    [LedgerFraud.tooLong, tooLong],
    [LedgerFraud.wrongChunk, wrongChunk],
  ],
  shows: { index: LedgerPart.resolution, nameOf: resolutionName },
}
