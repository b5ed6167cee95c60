import { profileLimits } from '@ratatosk/ledger'
import {
  addInteger,
  bData,
  boolean,
  equalsByteString,
  equalsInteger,
  integer,
  lengthOfByteString,
  lessThanInteger,
  listOf,
  multiplyInteger,
  unBData,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, branch, constructorOf, either, fieldsOf, not } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  choose,
  type Data,
  type Int,
  type List,
  scope,
} from '../../core/term.js'
import { isUnreadable } from '../cbor/encoding.js'
import { withFields } from '../cbor/fields.js'
import { isStrangeItem } from '../cbor/items.js'
import { countIn, elementAt } from '../cbor/read.js'
import { BodyField, isReference, referenceAt, referencesIn } from '../cbor/references.js'
import { type AssetTerms, isOutput, isStrangeBody, isStrangeWitnessSet } from '../cbor/shapes.js'
import { itemBytes } from '../cbor/skip.js'
import { isMalformed } from '../cbor/well-formed.js'
import { isWitness, WitnessField, witnessAt } from '../cbor/witness-set.js'
import { isGiven } from '../openings.js'
import { joinedBytes } from '../records.js'
import { type FraudCheck, type Opened, sumOverAll } from './opening.js'
import { outputAt } from './output-frauds.js'

/*
 * Frauds in how a transaction is encoded: what layer 1 could not read, and what the ledger does not decode.
 * Without them, the first could hide the others.
 */

/** `Body [transaction]` or `WitnessSet [record, witness set]`. */
const partIn = (block: Opened, shown: Data): Bytes =>
  scope(function* () {
    const part = yield* bind(fieldsOf(shown))
    const opening = yield* bind(unListData(at(part, 0)))
    return choose(
      isGiven(shown),
      block.bodyIn(opening),
      block.witnessSetIn(block.transactionIn(opening), at(part, 1)),
    )
  })

const assetAt = (fields: List, place: number): AssetTerms => ({
  policy: unIData(at(fields, place)),
  name: unIData(at(fields, place + 1)),
})

/**
 * A body or witness set, or what inputs and reference inputs stand for, is more than layer 1 can read.
 * `[part]`: as above, or `Resolved [transaction, outputs, hashes]`. `TooManyItems`, `LongHeadsNotSupported`,
 * `TooManyBytes`
 */
export const unreadablePart: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const shown = yield* bind(at(fields, 0))
    const kind = yield* bind(constructorOf(shown))
    const parts = yield* bind(
      branch(
        kind,
        [0, listOf(bData(partIn(block, shown)))],
        [1, listOf(bData(partIn(block, shown)))],
        [2, resolvedOf(block, fieldsOf(shown))],
      ),
    )
    const limit = (body: number, witnessSet: number, resolved: number): Int =>
      branch(kind, [0, integer(body)], [1, integer(witnessSet)], [2, integer(resolved)])
    const { bodyItems, bodyBytes, witnessSetItems, witnessSetBytes, resolvedItems, resolvedBytes } =
      profileLimits
    return book.enforce({
      'part-is-unreadable': either(
        lessThanInteger(
          limit(bodyBytes, witnessSetBytes, resolvedBytes),
          sumOverAll(parts, lengthOfByteString),
        ),
        // Fails if there is an end before. Layer 1 joins no more than 65,536 bytes.
        isUnreadable(joinedBytes(parts), limit(bodyItems, witnessSetItems, resolvedItems)),
      ),
    })
  })

/** The outputs that inputs and reference inputs stand for. */
const resolvedOf = (block: Opened, fields: List): List =>
  scope(function* () {
    const record = yield* bind(block.transactionIn(unListData(at(fields, 0))))
    return block.resolvedIn(record, unListData(at(fields, 1)), unBData(at(fields, 2)))
  })

/** A body or witness set is not one item of CBOR. `[part]` */
export const malformedPart: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const cbor = yield* bind(partIn(block, at(fields, 0)))
    return book.enforce({ 'part-is-malformed': isMalformed(cbor) })
  })

/**
 * A body or witness set is not a map, or has a field that it may not have, or twice or of another type, or
 * lacks one. `[part, key, policy, name]`: the first byte of the field's key, and the indexes of an asset
 * that is read of a mint
 */
export const strangeField: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const shown = yield* bind(at(fields, 0))
    const cbor = yield* bind(partIn(block, shown))
    const key = yield* bind(unIData(at(fields, 1)))
    return book.enforce({
      'field-is-strange': choose(
        isGiven(shown),
        isStrangeBody(cbor, key, assetAt(fields, 2)),
        isStrangeWitnessSet(cbor, key),
      ),
    })
  })

/** An output is not one. `[transaction, output, policy, name]`: the asset of its value that is read */
export const strangeOutput: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
    // Fails without such an output.
    return book.enforce({
      'output-is-strange': not(isOutput(body, outputAt(body, at(fields, 1)), assetAt(fields, 2))),
    })
  })

/**
 * An item of a body or witness set is not what the ledger decodes there, or has two equal parts.
 * `[part, path, same]`: see `isStrangeItem`
 */
export const strangeItem: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const shown = yield* bind(at(fields, 0))
    const cbor = yield* bind(partIn(block, shown))
    const path = yield* bind(unListData(at(fields, 1)))
    return book.enforce({
      'item-is-strange': isStrangeItem(isGiven(shown), cbor, path, unListData(at(fields, 2))),
    })
  })

/** A key witness or bootstrap witness is not one. `[record, witness set, isBootstrap, index]` */
export const strangeWitness: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const record = yield* bind(block.transactionIn(unListData(at(fields, 0))))
    const witnesses = yield* bind(block.witnessSetIn(record, at(fields, 1)))
    const isBootstrap = yield* bind(equalsInteger(unIData(at(fields, 2)), integer(1)))
    const witness = yield* bind(witnessAt(witnesses, isBootstrap, unIData(at(fields, 3))))
    // Fails behind the last.
    return book.enforce({ 'witness-is-strange': not(isWitness(witnesses, isBootstrap, witness)) })
  })

/** A set of references in a body: inputs, collateral inputs or reference inputs, as a constructor. */
const setIn = (body: Bytes, set: Data): Int =>
  branch(
    constructorOf(set),
    [0, referencesIn(body, BodyField.inputs)],
    [1, referencesIn(body, BodyField.collateralInputs)],
    [2, referencesIn(body, BodyField.referenceInputs)],
  )

const bodyAndSet = function* (block: Opened, fields: List) {
  const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
  const set = yield* bind(setIn(body, at(fields, 1)))
  return { body, set }
}

/**
 * An input, collateral input or reference input is not a reference as a definite array in shortest heads.
 * `[transaction, set, index]`. `IndefiniteReferencesNotSupported`
 */
export const unreadableReference: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const { body, set } = yield* bodyAndSet(block, fields)
    const reference = yield* bind(elementAt(body, set, unIData(at(fields, 2))))
    return book.enforce({
      // Fails behind the last.
      'reference-is-unreadable': not(isReference(itemBytes(body, reference))),
    })
  })

/** Two references of a set are the same. `[transaction, set, index, index]` */
export const repeatedReference: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const { body, set } = yield* bodyAndSet(block, fields)
    const [one, other] = [yield* bind(unIData(at(fields, 2))), yield* bind(unIData(at(fields, 3)))]
    return book.enforce({
      'references-are-two': not(equalsInteger(one, other)),
      'references-are-equal': equalsByteString(referenceAt(body, set, one), referenceAt(body, set, other)),
    })
  })

/**
 * There are more inputs and reference inputs, outputs, key witnesses, scripts, datums or redeemers than layer
 * 2 allows. `[part]`. `TooManyInputs`, `TooManyOutputs`, `TooManyKeyWitnesses`, `TooManyScriptWitnesses`,
 * `TooManyDatums`, `TooManyRedeemers`
 */
export const tooMany: FraudCheck = (book, block, fields) =>
  scope(function* () {
    const shown = yield* bind(at(fields, 0))
    const cbor = yield* bind(partIn(block, shown))
    const count = (collection: Int): Int => countIn(cbor, collection, () => boolean(true))
    const exceeds = (limit: number, number: Int): Bool => lessThanInteger(integer(limit), number)
    const { inputs, referenceInputs, outputs } = BodyField
    return book.enforce({
      'there-are-too-many': choose(
        isGiven(shown),
        withFields(cbor, [inputs, referenceInputs, outputs], (ofInputs, ofReferenceInputs, ofOutputs) => {
          const read = multiplyInteger(count(ofReferenceInputs), integer(2))
          return either(
            exceeds(profileLimits.inputs, addInteger(count(ofInputs), read)),
            exceeds(profileLimits.outputs, count(ofOutputs)),
          )
        }),
        withFields(
          cbor,
          [WitnessField.keyWitnesses, WitnessField.datums, WitnessField.redeemers],
          (keyWitnesses, datums, redeemers) =>
            withFields(
              cbor,
              [
                WitnessField.nativeScripts,
                WitnessField.plutusV1Scripts,
                WitnessField.plutusV2Scripts,
                WitnessField.plutusV3Scripts,
              ],
              (...scripts) =>
                [
                  exceeds(profileLimits.keyWitnesses, count(keyWitnesses)),
                  exceeds(profileLimits.datums, count(datums)),
                  exceeds(profileLimits.redeemers, count(redeemers)),
                  exceeds(profileLimits.scripts, scripts.map(count).reduce(addInteger)),
                ].reduce((all, each) => either(all, each)),
            ),
        ),
      ),
    })
  })
