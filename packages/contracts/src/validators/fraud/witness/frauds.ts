import type { PByteString, PData, PList } from '@harmoniclabs/plu-ts'
import { WitnessFraud, WitnessNeed } from '../../../fraud/layout.js'
import {
  appendByteString,
  blake2b256,
  bytes,
  equalsByteString,
  equalsInteger,
  headList,
  integer,
  lessThanByteString,
  lessThanInteger,
  nullList,
  sliceByteString,
  tailList,
  unBData,
  unIData,
  unListData,
  verifyEd25519Signature,
} from '../../core/builtins.js'
import { any, at, branch, constructorOf, fieldsOf, not } from '../../core/data.js'
import {
  type Bytes,
  bind,
  choose,
  type Data,
  type Int,
  type List,
  recursive,
  scope,
} from '../../core/term.js'
import { addressIn, datumHashIn, isLockedBy, paymentHashIn, refersTo } from '../cbor/outputs.js'
import { countIn, fieldAt } from '../cbor/read.js'
import { BodyField } from '../cbor/references.js'
import { itemBytes } from '../cbor/skip.js'
import type { Frauds } from '../policy.js'
import { idOf, resolvedHashOf } from '../records.js'
import { type Check, hasItem, inputAt, open, openedIn, type Witnessed } from './opening.js'
import { type LanguageViews, wrongScriptDataHash } from './script-data-frauds.js'
import {
  hasDatum,
  hashOfScript,
  hasRedeemer,
  hasScript,
  isSatisfied,
  isSigned,
  pointer,
  publicKeyAt,
  signatureAt,
  witnessAt,
} from './witness-set.js'

/*
 * Frauds in the witnesses of a transaction. Each is the negation of a rule by which nodes judge every
 * transaction of a block: `validateWitnessSignatures`, `validateKeyWitnesses`, `validateNativeScripts`,
 * `validateScriptWitnesses`, `validateRedeemers`, `validateDatums` and `validateScriptIntegrity` of
 * `@ratatosk/ledger`.
 * Where a rule would need more than a proof can show, the fraud is less than its negation: Byron addresses
 * need no signature here, and the cost models of any set of languages are right.
 */

/**
 * What a redeemer for a script's need points to: the place of its item among all in their field, in
 * lexicographic order.
 */
const pointerOf = (body: Bytes, need: Data): Int =>
  scope(function* () {
    const fields = yield* bind(fieldsOf(need))
    const own = unBData(headList(fields))
    const pointing = (purpose: number, field: number, item: Bytes): Int =>
      scope(function* () {
        const wanted = yield* bind(item)
        const collection = fieldAt(body, integer(0), field)
        const isBefore = (place: Int) => lessThanByteString(itemBytes(body, place), wanted)
        return pointer(integer(purpose), countIn(body, collection, isBefore))
      })
    return branch(
      constructorOf(need),
      [WitnessNeed.spent, pointing(Purpose.spend, BodyField.inputs, inputAt(body, fields))],
      [WitnessNeed.minted, pointing(Purpose.mint, BodyField.mint, own)],
      [WitnessNeed.withdrawn, pointing(Purpose.reward, BodyField.withdrawals, own)],
    )
  })

/** The purposes of redeemers, by their number in the CDDL. */
const Purpose = { spend: 0, mint: 1, reward: 3 } as const

/**
 * A signature does not fit its key and the transaction's id. `[transaction, witnesses, isBootstrap, index]`
 */
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
            const address = yield* bind(addressIn(block.spentIn(body, shown)))
            yield* bind(book.enforce({ 'key-unlocks-input': isLockedBy('key', address) }))
            return paymentHashIn(address)
          }),
        ],
        [
          WitnessNeed.required,
          scope(function* () {
            const signer = yield* bind(unBData(headList(shown)))
            yield* bind(
              book.enforce({ 'signer-is-required': hasItem(body, BodyField.requiredSigners, signer) }),
            )
            return sliceByteString(integer(2), integer(28), signer)
          }),
        ],
      ),
    )
    return book.enforce({ 'key-has-not-signed': not(isSigned(witnesses, keyHash)) })
  })

/** A native script that is needed is not satisfied. `[transaction, witnesses, need, script]` */
const nativeScriptFails: Check = (book, block, fields) =>
  scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const hash = yield* bind(block.neededIn(body, at(fields, 2)))
    const script = yield* bind(block.supplied(at(fields, 3)))
    return book.enforce({
      'script-is-needed': equalsByteString(hashOfScript(integer(0), script), hash),
      'native-script-fails': not(isSatisfied(script, body, witnesses)),
    })
  })

/**
 * A script that is needed is neither in the witness set nor in an output that the transaction spends or
 * refers to. `[transaction, witnesses, need, outputs]`
 */
const scriptMissing: Check = (book, block, fields) =>
  scope(function* () {
    const { record, body, witnesses } = yield* openedIn(block, fields)
    const hash = yield* bind(block.neededIn(body, at(fields, 2)))
    const outputs = yield* bind(unListData(at(fields, 3)))
    return book.enforce({
      'outputs-are-recorded': equalsByteString(blake2b256(hashesOf(block, outputs)), resolvedHashOf(record)),
      'script-is-not-referenced': not(any(outputs, (output) => refersTo(block.supplied(output), hash))),
      'script-is-not-witnessed': not(hasScript(witnesses, hash)),
    })
  })

const hashesOf = (block: Witnessed, outputs: List): Bytes =>
  recursive<PList<PData>, PByteString>((self, rest) =>
    choose(
      nullList(rest),
      bytes(new Uint8Array()),
      appendByteString(blake2b256(block.supplied(headList(rest))), self(tailList(rest))),
    ),
  )(outputs)

/** A Plutus script that is needed has no redeemer. `[transaction, witnesses, need, language, script]` */
const redeemerMissing: Check = (book, block, fields) =>
  scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const need = yield* bind(at(fields, 2))
    const hash = yield* bind(block.neededIn(body, need))
    const language = yield* bind(unIData(at(fields, 3)))
    return book.enforce({
      'script-is-needed': equalsByteString(hashOfScript(language, block.supplied(at(fields, 4))), hash),
      'script-is-plutus': lessThanInteger(integer(0), language),
      'redeemer-is-missing': not(hasRedeemer(witnesses, pointerOf(body, need))),
    })
  })

/**
 * An output that is spent with a redeemer has the hash of a datum that is not in the witness set.
 * `[transaction, witnesses, spent]`
 */
const datumMissing: Check = (book, block, fields) =>
  scope(function* () {
    const { body, witnesses } = yield* openedIn(block, fields)
    const need = yield* bind(at(fields, 2))
    const output = yield* bind(block.spentIn(body, fieldsOf(need)))
    return book.enforce({
      'input-has-redeemer': hasRedeemer(witnesses, pointerOf(body, need)),
      'datum-is-missing': not(hasDatum(witnesses, datumHashIn(output))),
    })
  })

/** The frauds that the witness policy knows. */
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
  ],
})
