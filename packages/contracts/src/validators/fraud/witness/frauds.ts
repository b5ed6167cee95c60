import { profileLimits } from '@ratatosk/ledger'
import { WitnessFraud, WitnessNeed } from '../../../fraud/layout.js'
import {
  blake2b256,
  bytes,
  equalsByteString,
  equalsInteger,
  headList,
  integer,
  lengthOfByteString,
  lessThanByteString,
  lessThanInteger,
  sliceByteString,
  unBData,
  unIData,
  unListData,
  verifyEd25519Signature,
} from '../../core/builtins.js'
import { any, at, both, branch, constructorOf, fieldsOf, not } from '../../core/data.js'
import { type Bool, type Bytes, bind, type Data, type Int, type List, scope } from '../../core/term.js'
import { isUnreadable } from '../cbor/encoding.js'
import { withFields } from '../cbor/fields.js'
import { addressIn, datumHashIn, isLockedBy, paymentHashIn, refersTo } from '../cbor/outputs.js'
import { countIn, fieldAt } from '../cbor/read.js'
import { BodyField, referenceAt, referencesIn } from '../cbor/references.js'
import {
  fieldOf,
  hasDatum,
  hashOfScript,
  hasRedeemer,
  hasScript,
  isSatisfied,
  isSigned,
  pointer,
  publicKeyAt,
  signatureAt,
  signersIn,
  WitnessField,
  witnessAt,
} from '../cbor/witness-set.js'
import type { Frauds } from '../policy.js'
import { hashesBefore, idOf, resolvedHashOf } from '../records.js'
import { type Check, hasItem, open, openedIn, type Witnessed } from './opening.js'
import { type LanguageViews, wrongScriptDataHash } from './script-data-frauds.js'

/*
 * Frauds in the witnesses of a transaction. Each is the negation of a rule by which nodes judge every
 * transaction of a block: `validateWitnessSignatures`, `validateKeyWitnesses`, `validateNativeScripts`,
 * `validateScriptWitnesses`, `validateRedeemers`, `validateDatums` and `validateScriptIntegrity` of
 * `@ratatosk/ledger`.
 * Where a rule would need more than a proof can show, the fraud is less than its negation: Byron addresses
 * need no signature here, and the cost models of any set of languages are right.
 */

/** Where an item of a body's field is among all of them in lexicographic order, as redeemers point to it. */
const pointing = (body: Bytes, purpose: number, collection: Int, item: Bytes): Int =>
  scope(function* () {
    const wanted = yield* bind(item)
    const length = yield* bind(lengthOfByteString(wanted))
    // No item of CBOR begins with another, so that as many bytes decide.
    const isBefore = (place: Int) => lessThanByteString(sliceByteString(place, length, body), wanted)
    return pointer(integer(purpose), countIn(body, collection, isBefore))
  })

const pointingToInput = (body: Bytes, inputs: Int, fields: List): Int =>
  pointing(body, Purpose.spend, inputs, referenceAt(body, inputs, unIData(headList(fields))))

/** The pointer of a redeemer for a script's need. */
const pointerOf = (body: Bytes, need: Data): Int =>
  scope(function* () {
    const fields = yield* bind(fieldsOf(need))
    const own = unBData(headList(fields))
    const pointingIn = (purpose: number, field: number): Int =>
      pointing(body, purpose, fieldAt(body, integer(0), field), own)
    return branch(
      constructorOf(need),
      [
        WitnessNeed.spent,
        scope(function* () {
          const inputs = yield* bind(referencesIn(body, BodyField.inputs))
          return pointingToInput(body, inputs, fields)
        }),
      ],
      [WitnessNeed.minted, pointingIn(Purpose.mint, BodyField.mint)],
      [WitnessNeed.withdrawn, pointingIn(Purpose.reward, BodyField.withdrawals)],
    )
  })

/** The purposes of redeemers, by their number in the CDDL. */
const Purpose = { spend: 0, mint: 1, reward: 3 } as const

/** A signature does not fit key and transaction id. `[transaction, witnesses, isBootstrap, index]` */
const invalidSignature: Check = (book, block, fields) =>
  scope(function* () {
    const record = yield* bind(block.transactionIn(unListData(at(fields, 0))))
    const witnesses = yield* bind(block.witnessSetIn(record, at(fields, 1)))
    const isBootstrap = equalsInteger(unIData(at(fields, 2)), integer(1))
    // Behind the last there is none: what begins a witness set is no public key.
    const witness = yield* bind(witnessAt(witnesses, isBootstrap, unIData(at(fields, 3))))
    return book.enforce({
      'signature-is-invalid': not(
        verifyEd25519Signature(
          publicKeyAt(witnesses, witness),
          idOf(record),
          signatureAt(witnesses, witness),
        ),
      ),
    })
  })

/**
 * The key of an input, or one that is required, has not signed. `[transaction, witnesses, need]`: `Spent`, or
 * `Required` with the CBOR of the key's hash
 */
const missingSignature: Check = (book, block, fields) =>
  scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const need = yield* bind(at(fields, 2))
    const shown = yield* bind(fieldsOf(need))
    const keyHash = yield* bind(
      branch(
        constructorOf(need),
        [
          WitnessNeed.spent,
          scope(function* () {
            const inputs = yield* bind(referencesIn(body, BodyField.inputs))
            const address = yield* bind(addressIn(block.spentIn(body, inputs, shown)))
            yield* bind(book.enforce({ 'key-unlocks-input': isLockedBy('key', address) }))
            return paymentHashIn(address)
          }),
        ],
        [
          WitnessNeed.required,
          scope(function* () {
            const signer = yield* bind(unBData(headList(shown)))
            yield* bind(
              book.enforce({ 'signer-is-required': hasItem(body, BodyField.requiredSigners, signer, 30) }),
            )
            return sliceByteString(integer(2), integer(28), signer)
          }),
        ],
      ),
    )
    return book.enforce({ 'key-has-not-signed': not(isSigned(signersIn(witnesses), keyHash)) })
  })

/** A native script that is needed breaks a condition. `[transaction, witnesses, need, script]` */
const nativeScript =
  (breach: (script: Bytes, body: Bytes, witnesses: Bytes) => Readonly<Record<string, Bool>>): Check =>
  (book, block, fields) =>
    scope(function* () {
      const { body, witnesses } = yield* openedIn(block, fields)
      const hash = yield* bind(block.neededIn(body, at(fields, 2)))
      const script = yield* bind(block.supplied(at(fields, 3)))
      return book.enforce({
        'script-is-needed': equalsByteString(hashOfScript(integer(0), script), hash),
        ...breach(script, body, witnesses),
      })
    })

/** It is not satisfied. */
const nativeScriptFails = nativeScript((script, body, witnesses) => ({
  'native-script-fails': scope(function* () {
    const signers = yield* bind(signersIn(witnesses))
    return withFields(body, [BodyField.invalidBefore, BodyField.invalidHereafter], (from, until) =>
      not(isSatisfied(script, { signers, body, from, until })),
    )
  }),
}))

/** It is more than layer 1 can read. `TooManyItems`, `LongHeadsNotSupported` */
const unreadableScript = nativeScript((script) => ({
  'native-script-is-unreadable': isUnreadable(script, integer(profileLimits.nativeScriptItems)),
}))

/**
 * A script that is needed is neither in the witness set nor in an output that the transaction spends or
 * refers to. `[transaction, witnesses, need, outputs]`
 */
const scriptMissing: Check = (book, block, fields) =>
  scope(function* () {
    const { record, body, witnesses } = yield* openedIn(block, fields)
    const hash = yield* bind(block.neededIn(body, at(fields, 2)))
    const outputs = yield* bind(block.suppliedAll(unListData(at(fields, 3))))
    return book.enforce({
      'outputs-are-recorded': equalsByteString(
        blake2b256(hashesBefore(outputs, bytes(new Uint8Array()))),
        resolvedHashOf(record),
      ),
      'script-is-not-referenced': not(any(outputs, (output) => refersTo(unBData(output), hash))),
      'script-is-not-witnessed': not(hasScript(witnesses, hash)),
    })
  })

/** A Plutus script that is needed has no redeemer. `[transaction, witnesses, need, language, script]` */
const redeemerMissing: Check = (book, block, fields) =>
  scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const need = yield* bind(at(fields, 2))
    const hash = yield* bind(block.neededIn(body, need))
    const language = yield* bind(unIData(at(fields, 3)))
    return book.enforce({
      'script-is-needed': equalsByteString(hashOfScript(language, block.supplied(at(fields, 4))), hash),
      'script-is-plutus': both(lessThanInteger(integer(0), language), lessThanInteger(language, integer(4))),
      'redeemer-is-missing': not(
        hasRedeemer(witnesses, fieldOf(witnesses, 'redeemers'), pointerOf(body, need)),
      ),
    })
  })

/**
 * An output that is spent with a redeemer has the hash of a datum that is not in the witness set.
 * `[transaction, witnesses, spent]`
 */
const datumMissing: Check = (book, block, fields) =>
  scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const spent = yield* bind(fieldsOf(at(fields, 2)))
    const inputs = yield* bind(referencesIn(body, BodyField.inputs))
    const output = yield* bind(block.spentIn(body, inputs, spent))
    const wanted = yield* bind(pointingToInput(body, inputs, spent))
    const hash = yield* bind(datumHashIn(output))
    return withFields(witnesses, [WitnessField.redeemers, WitnessField.datums], (redeemers, datums) =>
      book.enforce({
        'input-has-redeemer': hasRedeemer(witnesses, redeemers, wanted),
        'datum-is-missing': not(hasDatum(witnesses, datums, hash)),
      }),
    )
  })

export const witnessFrauds = (views: LanguageViews): Frauds<Witnessed> => ({
  open,
  checks: [
    [WitnessFraud.invalidSignature, invalidSignature],
    [WitnessFraud.missingSignature, missingSignature],
    [WitnessFraud.nativeScriptFails, nativeScriptFails],
    [WitnessFraud.scriptMissing, scriptMissing],
    [WitnessFraud.redeemerMissing, redeemerMissing],
    [WitnessFraud.datumMissing, datumMissing],
    [WitnessFraud.wrongScriptDataHash, wrongScriptDataHash(views)],
    [WitnessFraud.unreadableScript, unreadableScript],
  ],
})
