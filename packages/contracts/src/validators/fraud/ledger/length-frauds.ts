import { profileLimits } from '@ratatosk/ledger'
import {
  equalsInteger,
  integer,
  lengthOfByteString,
  lessThanInteger,
  unListData,
} from '../../core/builtins.js'
import { at, either, fieldsOf, not } from '../../core/data.js'
import { bind, choose, scope } from '../../core/term.js'
import { isGiven, recordOf } from '../openings.js'
import { bodyLengthOf, witnessSetLengthOf } from '../records.js'
import type { FraudCheck } from './opening.js'

/*
 * Frauds in the lengths that a transaction's record gives.
 */

/** A length of the record is wrong. `[part]`: `Body [transaction]` or `WitnessSet [record, witness set]` */
export const wrongLength: FraudCheck = (book, block, fields) =>
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
export const tooLong: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const record = yield* bind(block.transactionIn(fields))
    return book.enforce({
      'transaction-is-too-long': either(
        lessThanInteger(integer(profileLimits.bodyBytes), bodyLengthOf(record)),
        lessThanInteger(integer(profileLimits.witnessSetBytes), witnessSetLengthOf(record)),
      ),
    })
  })
