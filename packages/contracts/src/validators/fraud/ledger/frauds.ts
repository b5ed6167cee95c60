import { profileLimits } from '@ratatosk/ledger'
import { LedgerFraud, LedgerPart } from '../../../fraud/layout.js'
import {
  addInteger,
  blake2b256,
  bytes,
  equalsByteString,
  equalsInteger,
  integer,
  lengthOfByteString,
  lessThanInteger,
  sliceByteString,
  subtractInteger,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, both, branch, constructorOf, either, fieldsOf, not } from '../../core/data.js'
import { bind, choose, scope } from '../../core/term.js'
import { isPath } from '../../mpf/proof.js'
import { argumentAt, elementAt, fieldAt } from '../cbor/read.js'
import { BodyField, isReference, isThere, keyOfOutput } from '../cbor/references.js'
import { itemBytes } from '../cbor/skip.js'
import { isGiven, positionOf, recordOf } from '../openings.js'
import type { Frauds } from '../policy.js'
import {
  bodyLengthOf,
  chunkKeyLength,
  createdOf,
  feesSoFarOf,
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
  witnessSetLengthOf,
} from '../records.js'
import { wrongChunk } from './chunk-frauds.js'
import { type FraudCheck, type LedgerBlock, openLedger } from './opening.js'
import { resolutionName, wrongResolvedHash } from './resolutions.js'
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
  scope(function* () {
    const shown = yield* bind(at(fields, 0))
    const part = yield* bind(fieldsOf(shown))
    const opening = yield* bind(unListData(at(part, 0)))
    const record = yield* bind(recordOf(opening))
    const isRight = yield* bind(
      choose(
        isGiven(shown),
        equalsInteger(lengthOfByteString(block.bodyIn(opening)), bodyLengthOf(record)),
        equalsInteger(
          lengthOfByteString(block.witnessSetIn(block.transactionIn(opening), at(part, 1))),
          witnessSetLengthOf(record),
        ),
      ),
    )
    return book.enforce({ 'length-is-wrong': not(isRight) })
  })

/** A body or witness set is longer than layer 2 allows, by its record. `[position, record, proof]` */
const tooLong: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const record = yield* bind(block.transactionIn(fields))
    return book.enforce({
      'transaction-is-too-long': either(
        lessThanInteger(integer(profileLimits.bodyBytes), bodyLengthOf(record)),
        lessThanInteger(integer(profileLimits.witnessSetBytes), witnessSetLengthOf(record)),
      ),
    })
  })

/*
 * Frauds in what a block does to outputs. Each is the negation of a rule that every valid block keeps, shown
 * at one key of the header's maps.
 */

/** Output `index` is not noted, or with another maker or hash. `[transaction, index, output]` */
const outputNotNoted: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const index = yield* bind(unIData(at(fields, 1)))
    const place = yield* bind(elementAt(body, fieldAt(body, integer(0), BodyField.outputs), index))
    const output = yield* bind(block.outputIn(keyOfOutput(idOf(recordOf(opening)), index), at(fields, 2)))
    return book.enforce({
      'output-is-in-body': isThere(place),
      'output-is-not-noted': not(
        both(
          equalsInteger(createdOf(output), next(positionOf(opening))),
          equalsByteString(outputHashOf(output), blake2b256(itemBytes(body, place))),
        ),
      ),
    })
  })

/** The noted maker of an output is not in the block or does not make it. `[key, output, maker]` */
const inventedOutput: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const key = yield* bind(unBData(at(fields, 0)))
    const output = yield* bind(block.outputIn(key, at(fields, 1)))
    const created = yield* bind(createdOf(output))
    const maker = yield* bind(at(fields, 2))
    const shown = yield* bind(fieldsOf(maker))
    return branch(
      constructorOf(maker),
      // There is no such transaction.
      [0, book.enforce({ 'maker-is-missing': block.lacks(positionKey(previous(created)), at(shown, 0)) })],
      // Its id is not the one in the reference.
      [
        1,
        scope(function* () {
          const id = yield* bind(idOf(block.recordIn(shown)))
          return book.enforce({
            'maker-is-noted': equalsInteger(created, next(positionOf(shown))),
            'maker-has-another-id': not(equalsByteString(id, sliceByteString(integer(3), integer(32), key))),
          })
        }),
      ],
      // It has fewer outputs.
      [
        2,
        scope(function* () {
          const opening = yield* bind(unListData(at(shown, 0)))
          const body = yield* bind(block.bodyIn(opening))
          const index = yield* bind(unIData(at(shown, 1)))
          const outputs = fieldAt(body, integer(0), BodyField.outputs)
          return book.enforce({
            'invented-output-is-noted': not(isEmpty(output)),
            'key-is-of-maker': equalsByteString(keyOfOutput(idOf(recordOf(opening)), index), key),
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
  scope(function* () {
    const path = yield* bind(unBData(at(fields, 0)))
    const output = yield* bind(block.outputAt(path, at(fields, 1)))
    const after = yield* bind(block.hashAt('after', path, at(fields, 3)))
    const expected = yield* bind(
      choose(
        isEmpty(output),
        block.hashAt('before', path, at(fields, 2)),
        choose(equalsInteger(spentOf(output), integer(0)), outputHashOf(output), bytes(new Uint8Array())),
      ),
    )
    return book.enforce({
      'path-is-of-leaf': isPath(path),
      'after-does-not-follow': not(equalsByteString(after, expected)),
    })
  })

/**
 * The block has a transaction, but not one before it. `[missing position, proof, position, record, proof]`
 */
const gapInTransactions: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const missing = yield* bind(unIData(at(fields, 0)))
    const later = yield* bind(tailList(tailList(fields)))
    yield* bind(block.recordIn(later))
    return book.enforce({
      'position-is-missing': block.lacks(positionKey(missing), at(fields, 1)),
      'position-is-before-transaction': lessThanInteger(missing, positionOf(later)),
    })
  })

/**
 * No valid block has an entry of the transactions map: it is neither a transaction's, nor a chunk's that
 * counts at most 1,024, nor that of an output. `[key, value, proof]`: key and value in parts as supplied
 */
const strangeEntry: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const key = yield* bind(joinedBytes(block.suppliedAll(unListData(at(fields, 0)))))
    const value = yield* bind(joinedBytes(block.suppliedAll(unListData(at(fields, 1)))))
    return book.enforce({
      'entry-is-in-block': block.has(key, value, at(fields, 2)),
      'entry-is-strange': not(
        choose(
          equalsInteger(lengthOfByteString(key), integer(8)),
          isTransactionRecord(value),
          choose(
            equalsInteger(lengthOfByteString(key), integer(chunkKeyLength)),
            isChunkRecord(value),
            both(isReference(key), isOutputRecord(value)),
          ),
        ),
      ),
    })
  })

/** The fees so far are not those before the transaction and its own. `[transaction, previous]` */
const wrongFees: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const fee = argumentAt(body, fieldAt(body, integer(0), BodyField.fee))
    const position = yield* bind(positionOf(opening))
    const before = yield* bind(at(fields, 1))
    const earlier = yield* bind(fieldsOf(before))
    const first = yield* bind(not(isGiven(before)))
    const feesBefore = yield* bind(choose(first, integer(0), feesSoFarOf(block.recordIn(earlier))))
    const follows = choose(first, position, subtractInteger(position, next(positionOf(earlier))))
    return book.enforce({
      'fees-before-are-those-before': equalsInteger(follows, integer(0)),
      'fees-so-far-are-wrong': not(
        equalsInteger(feesSoFarOf(recordOf(opening)), addInteger(feesBefore, fee)),
      ),
    })
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
