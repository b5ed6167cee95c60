import type { PBool, PByteString, PInt, PLam } from '@harmoniclabs/plu-ts'
import { profileLimits } from '@ratatosk/ledger'
import { WitnessFraud, WitnessNeed } from '../../../layout.js'
import { any, at, both, branch, constructorOf, either, fieldsOf, not } from '../../core/data.js'
import * as p from '../../core/term.js'
import { addressIn, datumHashIn, isLockedBy, paymentHashIn, refersTo } from '../cbor/outputs.js'
import { countIn, fieldAt, stringAt, withFields } from '../cbor/read.js'
import { BodyField, isThere, referenceAt, referencesIn } from '../cbor/references.js'
import { isUnreadable } from '../cbor/skip.js'
import {
  fieldBytes,
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

/*
 * Frauds in the witnesses of a transaction. Each is the negation of a rule by which nodes judge every
 * transaction of a block: `validateWitnessSignatures`, `validateKeyWitnesses`, `validateNativeScripts`,
 * `validateScriptWitnesses`, `validateRedeemers`, `validateDatums` and `validateScriptIntegrity` of
 * `@ratatosk/ledger`.
 * Where a rule would need more than a proof can show, the fraud is less than its negation: Byron addresses
 * need no signature here, and the cost models of any set of languages are right.
 */

/** Where an item of a body's field is among all of them in lexicographic order, as redeemers point to it. */
const pointing = (body: p.Bytes, purpose: number, collection: p.Int, item: p.Bytes): p.Int =>
  p.scope(function* () {
    const wanted = yield* p.bind(item)
    const length = yield* p.bind(p.lengthOfByteString(wanted))
    // No item of CBOR begins with another, so that as many bytes decide.
    const isBefore = (place: p.Int) => p.lessThanByteString(p.sliceByteString(place, length, body), wanted)
    return pointer(p.integer(purpose), countIn(body, collection, isBefore))
  })

const pointingToInput = (body: p.Bytes, inputs: p.Int, fields: p.List): p.Int =>
  pointing(body, Purpose.spend, inputs, referenceAt(body, inputs, p.unIData(p.headList(fields))))

/** The pointer of a redeemer for a script's need. */
const pointerOf = (body: p.Bytes, need: p.Data): p.Int =>
  p.scope(function* () {
    const fields = yield* p.bind(fieldsOf(need))
    const own = p.unBData(p.headList(fields))
    const pointingIn = (purpose: number, field: number): p.Int =>
      pointing(body, purpose, fieldAt(body, p.integer(0), field), own)
    return branch(
      constructorOf(need),
      [
        WitnessNeed.spent,
        p.scope(function* () {
          const inputs = yield* p.bind(referencesIn(body, BodyField.inputs))
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
  p.scope(function* () {
    const record = yield* p.bind(block.transactionIn(p.unListData(at(fields, 0))))
    const witnesses = yield* p.bind(block.witnessSetIn(record, at(fields, 1)))
    const isBootstrap = p.equalsInteger(p.unIData(at(fields, 2)), p.integer(1))
    // Behind the last there is none: what begins a witness set is no public key.
    const witness = yield* p.bind(witnessAt(witnesses, isBootstrap, p.unIData(at(fields, 3))))
    return book.enforce({
      'signature-is-invalid': not(
        p.verifyEd25519Signature(
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
  p.scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const need = yield* p.bind(at(fields, 2))
    const shown = yield* p.bind(fieldsOf(need))
    const keyHash = yield* p.bind(
      branch(
        constructorOf(need),
        [
          WitnessNeed.spent,
          p.scope(function* () {
            const inputs = yield* p.bind(referencesIn(body, BodyField.inputs))
            const address = yield* p.bind(addressIn(block.spentIn(body, inputs, shown)))
            yield* p.bind(book.enforce({ 'key-unlocks-input': isLockedBy('key', address) }))
            return paymentHashIn(address)
          }),
        ],
        [
          WitnessNeed.required,
          p.scope(function* () {
            const signer = yield* p.bind(p.unBData(p.headList(shown)))
            yield* p.bind(
              book.enforce({ 'signer-is-required': hasItem(body, BodyField.requiredSigners, signer, 30) }),
            )
            return p.sliceByteString(p.integer(2), p.integer(28), signer)
          }),
        ],
      ),
    )
    return book.enforce({ 'key-has-not-signed': not(isSigned(signersIn(witnesses), keyHash)) })
  })

/** A native script that is needed breaks a condition. `[transaction, witnesses, need, script]` */
const nativeScript =
  (breach: (script: p.Bytes, body: p.Bytes, witnesses: p.Bytes) => Readonly<Record<string, p.Bool>>): Check =>
  (book, block, fields) =>
    p.scope(function* () {
      const { body, witnesses } = yield* openedIn(block, fields)
      const hash = yield* p.bind(block.neededIn(body, at(fields, 2)))
      const script = yield* p.bind(block.supplied(at(fields, 3)))
      return book.enforce({
        'script-is-needed': p.equalsByteString(hashOfScript(p.integer(0), script), hash),
        ...breach(script, body, witnesses),
      })
    })

/** It is not satisfied. */
const nativeScriptFails = nativeScript((script, body, witnesses) => ({
  'native-script-fails': p.scope(function* () {
    const signers = yield* p.bind(signersIn(witnesses))
    return withFields(body, [BodyField.invalidBefore, BodyField.invalidHereafter], (from, until) =>
      not(isSatisfied(script, { signers, body, from, until })),
    )
  }),
}))

/** It is more than layer 1 can read. `TooManyItems`, `LongHeadsNotSupported` */
const unreadableScript = nativeScript((script) => ({
  'native-script-is-unreadable': isUnreadable(script, p.integer(profileLimits.nativeScriptItems)),
}))

/**
 * A script that is needed is neither in the witness set nor in an output that the transaction spends or
 * refers to. `[transaction, witnesses, need, outputs]`
 */
const scriptMissing: Check = (book, block, fields) =>
  p.scope(function* () {
    const { record, body, witnesses } = yield* openedIn(block, fields)
    const hash = yield* p.bind(block.neededIn(body, at(fields, 2)))
    const outputs = yield* p.bind(block.suppliedAll(p.unListData(at(fields, 3))))
    return book.enforce({
      'outputs-are-recorded': p.equalsByteString(
        p.blake2b256(hashesBefore(outputs, p.bytes(new Uint8Array()))),
        resolvedHashOf(record),
      ),
      'script-is-not-referenced': not(any(outputs, (output) => refersTo(p.unBData(output), hash))),
      'script-is-not-witnessed': not(hasScript(witnesses, hash)),
    })
  })

/** A Plutus script that is needed has no redeemer. `[transaction, witnesses, need, language, script]` */
const redeemerMissing: Check = (book, block, fields) =>
  p.scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const need = yield* p.bind(at(fields, 2))
    const hash = yield* p.bind(block.neededIn(body, need))
    const language = yield* p.bind(p.unIData(at(fields, 3)))
    return book.enforce({
      'script-is-needed': p.equalsByteString(hashOfScript(language, block.supplied(at(fields, 4))), hash),
      'script-is-plutus': both(
        p.lessThanInteger(p.integer(0), language),
        p.lessThanInteger(language, p.integer(4)),
      ),
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
  p.scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const spent = yield* p.bind(fieldsOf(at(fields, 2)))
    const inputs = yield* p.bind(referencesIn(body, BodyField.inputs))
    const output = yield* p.bind(block.spentIn(body, inputs, spent))
    const wanted = yield* p.bind(pointingToInput(body, inputs, spent))
    const hash = yield* p.bind(datumHashIn(output))
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

/**
 * The script data hash is not that of redeemers, datums and the cost models of any languages, or there is one
 * without redeemers and datums. `[transaction, witnesses]`
 */
const wrongScriptDataHash =
  (views: LanguageViews): Check =>
  (book, block, fields) =>
    p.scope(function* () {
      const { body, witnesses } = yield* openedIn(block, fields)
      const stated = yield* p.bind(fieldAt(body, p.integer(0), BodyField.scriptDataHash))
      return withFields(witnesses, [WitnessField.redeemers, WitnessField.datums], (redeemers, datums) =>
        book.enforce({
          'script-data-hash-is-wrong': p.choose(
            either(isThere(redeemers), isThere(datums)),
            either(
              not(isThere(stated)),
              p.scope(function* () {
                const preimage = yield* p.bind(
                  p.appendByteString(
                    fieldBytes(witnesses, redeemers, noRedeemers),
                    fieldBytes(witnesses, datums, new Uint8Array()),
                  ),
                )
                const hash = yield* p.bind(stringAt(body, stated))
                return not(isOfLanguages(views, preimage, hash))
              }),
            ),
            isThere(stated),
          ),
        }),
      )
    })

/** The substitute for absent redeemers in the preimage: an empty map. */
const noRedeemers = Uint8Array.of(0xa0)

/**
 * The cost model of each Plutus language as the script data hash holds it: key and value of a map's entry, in
 * CBOR. In the order of the map: Plutus V2, V3, V1.
 */
export type LanguageViews = readonly [plutusV2: p.Data, plutusV3: p.Data, plutusV1: p.Data]

/** Whether a hash is that of script data with the cost models of some set of languages. */
const isOfLanguages = (views: LanguageViews, scriptData: p.Bytes, hash: p.Bytes): p.Bool =>
  p.scope(function* () {
    const isOf = yield* p.bind(
      p.lambda<PInt, PLam<PByteString, PBool>>((size) =>
        p.lambda((entries) =>
          p.equalsByteString(
            p.blake2b256(
              p.appendByteString(
                scriptData,
                p.consByteString(p.addInteger(p.integer(emptyMap), size), entries),
              ),
            ),
            hash,
          ),
        ),
      ),
    )
    const sets = Array.from({ length: 2 ** views.length }, (_, set) =>
      views.filter((_view, place) => (set >> place) % 2 === 1),
    )
    return sets
      .map((set) =>
        p.call<PBool>(
          isOf,
          p.integer(set.length),
          set
            .map(p.unBData)
            .reduceRight((rest: p.Bytes, view) => p.appendByteString(view, rest), p.bytes(new Uint8Array())),
        ),
      )
      .reduce((rest, each) => either(rest, each))
  })

const emptyMap = 0xa0
