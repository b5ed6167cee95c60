import { profileLimits } from '@ratatosk/ledger'
import { at, branch, constructorOf, either, fieldsOf, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { isStrangeItem } from '../cbor/items.js'
import { addressAt, lovelaceAt, valueAt } from '../cbor/outputs.js'
import { countIn, elementAt, fieldAt, withFields } from '../cbor/read.js'
import { BodyField, isReference, referenceAt, referencesIn } from '../cbor/references.js'
import { type AssetTerms, isOutput, isStrangeBody, isStrangeWitnessSet } from '../cbor/shapes.js'
import { isMalformed, isUnreadable, itemBytes, skip } from '../cbor/skip.js'
import { isWitness, WitnessField, witnessAt } from '../cbor/witness-set.js'
import { isGiven } from '../policy.js'
import { joinedBytes } from '../records.js'
import { type FraudCheck, type Opened, type RuleParameters, sumOverAll } from './opening.js'

/*
 * Frauds in how a transaction is encoded: what layer 1 could not read, and what the ledger does not decode.
 * Without them, the first could hide the others.
 */

/** `Body [transaction]` or `WitnessSet [record, witness set]`. */
const partIn = (block: Opened, shown: p.Data): p.Bytes =>
  p.scope(function* () {
    const part = yield* p.bind(fieldsOf(shown))
    const opening = yield* p.bind(p.unListData(at(part, 0)))
    return p.choose(
      isGiven(shown),
      block.bodyIn(opening),
      block.witnessSetIn(block.transactionIn(opening), at(part, 1)),
    )
  })

const assetAt = (fields: p.List, place: number): AssetTerms => ({
  policy: p.unIData(at(fields, place)),
  name: p.unIData(at(fields, place + 1)),
})

/**
 * A body or witness set, or what inputs and reference inputs stand for, is more than layer 1 can read.
 * `[part]`: as above, or `Resolved [transaction, outputs, hashes]`. `TooManyItems`, `LongHeadsNotSupported`,
 * `TooManyBytes`
 */
export const unreadablePart: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const shown = yield* p.bind(at(fields, 0))
    const kind = yield* p.bind(constructorOf(shown))
    const parts = yield* p.bind(
      branch(
        kind,
        [0, p.listOf(p.bData(partIn(block, shown)))],
        [1, p.listOf(p.bData(partIn(block, shown)))],
        [2, resolvedOf(block, fieldsOf(shown))],
      ),
    )
    const limit = (body: number, witnessSet: number, resolved: number): p.Int =>
      branch(kind, [0, p.integer(body)], [1, p.integer(witnessSet)], [2, p.integer(resolved)])
    const { bodyItems, bodyBytes, witnessSetItems, witnessSetBytes, resolvedItems, resolvedBytes } =
      profileLimits
    return book.enforce({
      'part-is-unreadable': either(
        p.lessThanInteger(
          limit(bodyBytes, witnessSetBytes, resolvedBytes),
          sumOverAll(parts, p.lengthOfByteString),
        ),
        // Fails if there is an end before. Layer 1 joins no more than 65,536 bytes.
        isUnreadable(joinedBytes(parts), limit(bodyItems, witnessSetItems, resolvedItems)),
      ),
    })
  })

/** The outputs that inputs and reference inputs stand for. */
const resolvedOf = (block: Opened, fields: p.List): p.List =>
  p.scope(function* () {
    const record = yield* p.bind(block.transactionIn(p.unListData(at(fields, 0))))
    return block.resolvedIn(record, p.unListData(at(fields, 1)), p.unBData(at(fields, 2)))
  })

/** A body or witness set is not one item of CBOR. `[part]` */
export const malformedPart: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const cbor = yield* p.bind(partIn(block, at(fields, 0)))
    return book.enforce({ 'part-is-malformed': isMalformed(cbor) })
  })

/**
 * A body or witness set is not a map, or has a field that it may not have, or twice or of another type, or
 * lacks one. `[part, key, policy, name]`: the first byte of the field's key, and the indexes of an asset
 * that is read of a mint
 */
export const strangeField: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const shown = yield* p.bind(at(fields, 0))
    const cbor = yield* p.bind(partIn(block, shown))
    const key = yield* p.bind(p.unIData(at(fields, 1)))
    return book.enforce({
      'field-is-strange': p.choose(
        isGiven(shown),
        isStrangeBody(cbor, key, assetAt(fields, 2)),
        isStrangeWitnessSet(cbor, key),
      ),
    })
  })

/** An output is not one. `[transaction, output, policy, name]`: the asset of its value that is read */
export const strangeOutput: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
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
  p.scope(function* () {
    const shown = yield* p.bind(at(fields, 0))
    const cbor = yield* p.bind(partIn(block, shown))
    const path = yield* p.bind(p.unListData(at(fields, 1)))
    return book.enforce({
      'item-is-strange': isStrangeItem(isGiven(shown), cbor, path, p.unListData(at(fields, 2))),
    })
  })

/** A key witness or bootstrap witness is not one. `[record, witness set, isBootstrap, index]` */
export const strangeWitness: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const record = yield* p.bind(block.transactionIn(p.unListData(at(fields, 0))))
    const witnesses = yield* p.bind(block.witnessSetIn(record, at(fields, 1)))
    const isBootstrap = yield* p.bind(p.equalsInteger(p.unIData(at(fields, 2)), p.integer(1)))
    const witness = yield* p.bind(witnessAt(witnesses, isBootstrap, p.unIData(at(fields, 3))))
    // Fails behind the last.
    return book.enforce({ 'witness-is-strange': not(isWitness(witnesses, isBootstrap, witness)) })
  })

/** A set of references in a body: inputs, collateral inputs or reference inputs, as a constructor. */
const setIn = (body: p.Bytes, set: p.Data): p.Int =>
  branch(
    constructorOf(set),
    [0, referencesIn(body, BodyField.inputs)],
    [1, referencesIn(body, BodyField.collateralInputs)],
    [2, referencesIn(body, BodyField.referenceInputs)],
  )

const bodyAndSet = function* (block: Opened, fields: p.List) {
  const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
  const set = yield* p.bind(setIn(body, at(fields, 1)))
  return { body, set }
}

/**
 * An input, collateral input or reference input is not a reference as a definite array in shortest heads.
 * `[transaction, set, index]`. `IndefiniteReferencesNotSupported`
 */
export const unreadableReference: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const { body, set } = yield* bodyAndSet(block, fields)
    const reference = yield* p.bind(elementAt(body, set, p.unIData(at(fields, 2))))
    return book.enforce({
      // Fails behind the last.
      'reference-is-unreadable': not(isReference(itemBytes(body, reference))),
    })
  })

/** Two references of a set are the same. `[transaction, set, index, index]` */
export const repeatedReference: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const { body, set } = yield* bodyAndSet(block, fields)
    const [one, other] = [yield* p.bind(p.unIData(at(fields, 2))), yield* p.bind(p.unIData(at(fields, 3)))]
    return book.enforce({
      'references-are-two': not(p.equalsInteger(one, other)),
      'references-are-equal': p.equalsByteString(referenceAt(body, set, one), referenceAt(body, set, other)),
    })
  })

/**
 * There are more inputs and reference inputs, outputs, key witnesses, scripts, datums or redeemers than layer
 * 2 allows. `[part]`. `TooManyInputs`, `TooManyOutputs`, `TooManyKeyWitnesses`, `TooManyScriptWitnesses`,
 * `TooManyDatums`, `TooManyRedeemers`
 */
export const tooMany: FraudCheck = (book, block, fields) =>
  p.scope(function* () {
    const shown = yield* p.bind(at(fields, 0))
    const cbor = yield* p.bind(partIn(block, shown))
    const count = (collection: p.Int): p.Int => countIn(cbor, collection, () => p.boolean(true))
    const exceeds = (limit: number, number: p.Int): p.Bool => p.lessThanInteger(p.integer(limit), number)
    const { inputs, referenceInputs, outputs } = BodyField
    return book.enforce({
      'there-are-too-many': p.choose(
        isGiven(shown),
        withFields(cbor, [inputs, referenceInputs, outputs], (ofInputs, ofReferenceInputs, ofOutputs) => {
          const read = p.multiplyInteger(count(ofReferenceInputs), p.integer(2))
          return either(
            exceeds(profileLimits.inputs, p.addInteger(count(ofInputs), read)),
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
                  exceeds(profileLimits.scripts, scripts.map(count).reduce(p.addInteger)),
                ].reduce((all, each) => either(all, each)),
            ),
        ),
      ),
    })
  })

/** The place of an output: `Output [index]` of the body, or `CollateralReturn`; `nowhere` is unreadable. */
const outputAt = (body: p.Bytes, where: p.Data): p.Int =>
  p.scope(function* () {
    const shown = yield* p.bind(where)
    return p.choose(
      isGiven(shown),
      elementAt(body, fieldAt(body, p.integer(0), BodyField.outputs), p.unIData(at(fieldsOf(shown), 0))),
      fieldAt(body, p.integer(0), BodyField.collateralReturn),
    )
  })

/** An output holds too little lovelace for its size. `[transaction, output]`. `BabbageOutputTooSmallUTxO` */
export const outputTooSmall =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    p.scope(function* () {
      const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
      const output = yield* p.bind(outputAt(body, at(fields, 1)))
      const size = p.subtractInteger(skip(body, p.integer(1), output), output)
      return book.enforce({
        'output-is-too-small': p.lessThanInteger(
          lovelaceAt(body, valueAt(body, output)),
          p.multiplyInteger(
            p.addInteger(size, p.integer(entryOverhead)),
            p.unIData(parameters.coinsPerUtxoByte),
          ),
        ),
      })
    })

/** The size of an output's entry besides its own bytes. */
const entryOverhead = 160

/**
 * An output pays to an address of another network or of the Byron era. `[transaction, output]`.
 * `WrongNetwork`, `ByronAddressesNotSupported`
 */
export const outputOnOtherNetwork =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    p.scope(function* () {
      const body = yield* p.bind(block.bodyIn(p.unListData(at(fields, 0))))
      const output = yield* p.bind(outputAt(body, at(fields, 1)))
      const address = yield* p.bind(addressAt(body, output))
      const head = yield* p.bind(p.indexByteString(body, address))
      const isLong = yield* p.bind(p.equalsInteger(head, p.integer(0x59)))
      const header = yield* p.bind(
        p.indexByteString(body, p.addInteger(address, p.choose(isLong, p.integer(3), p.integer(2)))),
      )
      return book.enforce({
        // A string of 24 to 65,535 bytes.
        'address-is-readable': either(isLong, p.equalsInteger(head, p.integer(0x58))),
        'address-is-on-other-network': either(
          p.lessThanInteger(p.integer(0x7f), header),
          not(p.equalsInteger(p.modInteger(header, p.integer(16)), p.unIData(parameters.networkId))),
        ),
      })
    })
