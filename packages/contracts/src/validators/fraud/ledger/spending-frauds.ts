import {
  equalsByteString,
  equalsInteger,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  unBData,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, both, either, fieldsOf, not } from '../../core/data.js'
import { bind, choose, scope } from '../../core/term.js'
import { BodyField, hasReference, referenceAt, referencesIn } from '../cbor/references.js'
import { type Accused, isGiven, positionOf } from '../openings.js'
import type { FraudCheck as Check } from '../policy.js'
import { createdOf, isEmpty, next, outputHashOf, positionKey, previous, spentOf } from '../records.js'

/*
 * Frauds in what a block records of spent outputs and of the outputs that reference inputs name.
 */

type FraudCheck = Check<Accused>

/** Input `index` is noted as spent by another transaction, or not at all. `[transaction, index, output]` */
export const inputSpentElsewhere: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const key = yield* bind(referenceAt(body, referencesIn(body, BodyField.inputs), unIData(at(fields, 1))))
    const output = yield* bind(block.outputIn(key, at(fields, 2)))
    return book.enforce({
      'input-is-spent-elsewhere': not(equalsInteger(spentOf(output), next(positionOf(opening)))),
    })
  })

/** The noted spender of an output is not in the block or lacks such an input. `[key, output, spender]` */
export const spentWithoutInput: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const key = yield* bind(unBData(at(fields, 0)))
    const spent = yield* bind(spentOf(block.outputIn(key, at(fields, 1))))
    const spender = yield* bind(at(fields, 2))
    const shown = yield* bind(at(fieldsOf(spender), 0))
    return choose(
      isGiven(spender),
      scope(function* () {
        const opening = yield* bind(unListData(shown))
        const body = yield* bind(block.bodyIn(opening))
        return book.enforce({
          'spender-is-noted': equalsInteger(spent, next(positionOf(opening))),
          'spender-lacks-input': not(hasReference(body, referencesIn(body, BodyField.inputs), key)),
        })
      }),
      // There is no position before the first, so an unspent output fails.
      book.enforce({
        'spender-is-missing': block.lacks(positionKey(previous(spent)), shown),
      }),
    )
  })

/** An output from before the block was not unspent then, or was another. `[key, output, before]` */
export const spentThatNeverWas: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const key = yield* bind(unBData(at(fields, 0)))
    const output = yield* bind(block.outputIn(key, at(fields, 1)))
    const before = yield* bind(block.unspent('before', key, at(fields, 2)))
    return book.enforce({
      'output-is-noted': not(isEmpty(output)),
      'output-is-from-before': equalsInteger(createdOf(output), integer(0)),
      'output-was-not-there': not(equalsByteString(before, outputHashOf(output))),
    })
  })

/** An output is spent by the transaction that makes it, or before. `[key, output]` */
export const spentBeforeMade: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const output = yield* bind(block.outputIn(unBData(at(fields, 0)), at(fields, 1)))
    const spent = yield* bind(spentOf(output))
    return book.enforce({
      'output-is-spent': lessThanInteger(integer(0), spent),
      'output-is-spent-before-made': lessThanEqualsInteger(spent, createdOf(output)),
    })
  })

/**
 * Reference input `index` of a transaction is spent before it, made by or after it, or nowhere.
 * `[transaction, index, output, before]`
 */
export const referenceInputMissing: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const key = yield* bind(
      referenceAt(body, referencesIn(body, BodyField.referenceInputs), unIData(at(fields, 1))),
    )
    const output = yield* bind(block.outputIn(key, at(fields, 2)))
    const position = yield* bind(positionOf(opening))
    const spent = yield* bind(spentOf(output))
    const missing = yield* bind(
      choose(
        isEmpty(output),
        isEmpty(block.unspent('before', key, at(fields, 3))),
        either(
          lessThanInteger(position, createdOf(output)),
          both(lessThanInteger(integer(0), spent), lessThanEqualsInteger(spent, position)),
        ),
      ),
    )
    return book.enforce({ 'reference-input-is-missing': missing })
  })
