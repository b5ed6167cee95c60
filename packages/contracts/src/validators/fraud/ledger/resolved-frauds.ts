import { at, both, branch, constructorOf, either, fieldsOf, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { BodyField, hasReference, referenceAt, referenceCount, referencesIn } from '../cbor/references.js'
import { type Accused, type FraudCheck as Check, positionOf, recordOf } from '../policy.js'
import {
  createdOf,
  hasLeft,
  isEmpty,
  next,
  outputHashOf,
  positionKey,
  previous,
  resolvedHashOf,
  spentOf,
} from '../records.js'

/*
 * Frauds in the hash that a transaction's record gives for what its inputs and reference inputs stand for.
 */

type FraudCheck = Check<Accused>

/** The hash of what a reference stands for. @param before is read if the block does not note the output */
export const hashUnder = (block: Accused, key: p.Bytes, noted: p.Data, before: p.Data): p.Bytes =>
  p.scope(function* () {
    const output = yield* p.bind(block.outputIn(key, noted))
    return p.choose(isEmpty(output), block.hashIn('before', key, before), outputHashOf(output))
  })

/**
 * The hash that a transaction's record gives for what an input or reference input stands for is not that of
 * the output. `[transaction, index, hashes, output, before]`: inputs count first; `before` is read if the
 * block does not note the output.
 */
export const wrongResolved: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const index = yield* p.bind(p.unIData(at(fields, 1)))
    const hashes = yield* p.bind(p.unBData(at(fields, 2)))
    const inputs = yield* p.bind(referencesIn(body, BodyField.inputs))
    const count = yield* p.bind(referenceCount(body, inputs))
    const isInput = yield* p.bind(p.lessThanInteger(index, count))
    const set = p.choose(isInput, inputs, referencesIn(body, BodyField.referenceInputs))
    const key = yield* p.bind(
      referenceAt(body, set, p.choose(isInput, index, p.subtractInteger(index, count))),
    )
    const recorded = p.sliceByteString(p.multiplyInteger(index, p.integer(32)), p.integer(32), hashes)
    const actual = yield* p.bind(hashUnder(block, key, at(fields, 3), at(fields, 4)))
    return book.enforce({
      'hashes-are-recorded': p.equalsByteString(p.blake2b256(hashes), resolvedHashOf(recordOf(opening))),
      'recorded-hash-is-wrong': not(p.equalsByteString(recorded, actual)),
    })
  })

/*
 * Frauds in what a block records of spent outputs and of the outputs that reference inputs name.
 */

/** Input `index` is noted as spent by another transaction, or not at all. `[transaction, index, output]` */
export const inputSpentElsewhere: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const key = yield* p.bind(
      referenceAt(body, referencesIn(body, BodyField.inputs), p.unIData(at(fields, 1))),
    )
    const output = yield* p.bind(block.outputIn(key, at(fields, 2)))
    return book.enforce({
      'input-is-spent-elsewhere': not(p.equalsInteger(spentOf(output), next(positionOf(opening)))),
    })
  })

/**
 * The noted spender of an output is not in the block or lacks such an input, or the output leaves layer 2 and
 * layer 1 does not owe it. `[key, output, spender]`: `Known [transaction]`, `Absent [proof]` or
 * `Left [withdrawals]`
 */
export const spentWithoutInput: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const key = yield* p.bind(p.unBData(at(fields, 0)))
    const output = yield* p.bind(block.outputIn(key, at(fields, 1)))
    const spent = yield* p.bind(spentOf(output))
    const spender = yield* p.bind(at(fields, 2))
    const shown = yield* p.bind(at(fieldsOf(spender), 0))
    const stays = not(hasLeft(spent))
    return branch(
      constructorOf(spender),
      [
        0,
        p.scope(function* () {
          const opening = yield* p.bind(p.unListData(shown))
          const body = yield* p.bind(block.bodyIn(opening))
          return book.enforce({
            'output-stays': stays,
            'spender-is-noted': p.equalsInteger(spent, next(positionOf(opening))),
            'spender-lacks-input': not(hasReference(body, referencesIn(body, BodyField.inputs), key)),
          })
        }),
      ],
      [
        1,
        // There is no position before the first, so an unspent output fails.
        book.enforce({
          'output-stays': stays,
          'spender-is-missing': block.lacks(positionKey(previous(spent)), shown),
        }),
      ],
      [
        2,
        p.scope(function* () {
          const owed = yield* p.bind(block.hashIn('withdrawals', key, shown))
          return book.enforce({
            'output-leaves': hasLeft(spent),
            'output-is-not-owed': not(p.equalsByteString(owed, outputHashOf(output))),
          })
        }),
      ],
    )
  })

/**
 * An output that no transaction of the block makes was not deposited, and is not spent, or was not unspent
 * before the block. `[key, output, before, deposits]`; `before` is read if the output is spent
 */
export const strayFromBefore: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const key = yield* p.bind(p.unBData(at(fields, 0)))
    const output = yield* p.bind(block.outputIn(key, at(fields, 1)))
    const hash = yield* p.bind(outputHashOf(output))
    const deposited = yield* p.bind(block.hashIn('deposits', key, at(fields, 3)))
    const wasThere = yield* p.bind(
      p.choose(
        p.equalsInteger(spentOf(output), p.integer(0)),
        p.boolean(false),
        p.equalsByteString(block.hashIn('before', key, at(fields, 2)), hash),
      ),
    )
    return book.enforce({
      'output-is-noted': not(isEmpty(output)),
      'output-is-from-before': p.equalsInteger(createdOf(output), p.integer(0)),
      'output-was-not-deposited': not(p.equalsByteString(deposited, hash)),
      'output-was-not-there': not(wasThere),
    })
  })

/** An output is spent by the transaction that makes it, or before. `[key, output]` */
export const spentBeforeMade: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const output = yield* p.bind(block.outputIn(p.unBData(at(fields, 0)), at(fields, 1)))
    const spent = yield* p.bind(spentOf(output))
    return book.enforce({
      'output-is-spent': p.lessThanInteger(p.integer(0), spent),
      'output-is-spent-before-made': p.lessThanEqualsInteger(spent, createdOf(output)),
    })
  })

/**
 * Reference input `index` of a transaction is spent before it, made by or after it, or nowhere, or leaves
 * layer 2. `[transaction, index, output, before]`
 */
export const referenceInputMissing: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const opening = yield* p.bind(p.unListData(at(fields, 0)))
    const body = yield* p.bind(block.bodyIn(opening))
    const key = yield* p.bind(
      referenceAt(body, referencesIn(body, BodyField.referenceInputs), p.unIData(at(fields, 1))),
    )
    const output = yield* p.bind(block.outputIn(key, at(fields, 2)))
    const position = yield* p.bind(positionOf(opening))
    const spent = yield* p.bind(spentOf(output))
    const missing = yield* p.bind(
      p.choose(
        isEmpty(output),
        isEmpty(block.hashIn('before', key, at(fields, 3))),
        either(
          p.lessThanInteger(position, createdOf(output)),
          either(
            hasLeft(spent),
            both(p.lessThanInteger(p.integer(0), spent), p.lessThanEqualsInteger(spent, position)),
          ),
        ),
      ),
    )
    return book.enforce({ 'reference-input-is-missing': missing })
  })
