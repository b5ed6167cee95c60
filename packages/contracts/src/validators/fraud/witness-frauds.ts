import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { WitnessFraud, WitnessNeed } from '../../fraud/layout.js'
import {
  addInteger,
  appendByteString,
  blake2b256,
  bytes,
  consByteString,
  equalsByteString,
  equalsInteger,
  headList,
  indexByteString,
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
} from '../core/builtins.js'
import { any, at, branch, constructorOf, either, fieldsOf, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  type Data,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../core/term.js'
import { countIn, fieldAt, itemBytes, stringAt } from './cbor.js'
import {
  idOf,
  notedOutputsOf,
  type Opening,
  outputHashOf,
  resolvedHashOf,
  type Supplied,
  type Transactions,
  transactionsOf,
  witnessSetsOf,
} from './openings.js'
import { addressIn, datumHashIn, isLockedBy, paymentHashIn, refersTo } from './outputs.js'
import type { FraudCheck, Frauds } from './policy.js'
import { BodyField, isThere, referenceAt, referencesIn } from './references.js'
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
  witnessAt,
} from './witness-set.js'

/*
 * Frauds in the witnesses of a transaction. Each is the negation of a rule by which nodes judge every
 * transaction of a block: `validateWitnessSignatures`, `validateKeyWitnesses`, `validateNativeScripts`,
 * `validateScriptWitnesses`, `validateRedeemers`, `validateDatums` and `validateScriptIntegrity` of `@ratatosk/ledger`.
 * Where a rule would need more than a proof can show, the fraud is less than its negation: Byron addresses
 * need no signature here, and the cost models of any set of languages are right.
 */

/** What these frauds read of a header. */
interface Witnessed extends Pick<Transactions, 'transactionIn' | 'bodyIn'>, Supplied {
  /** An output that a body spends. @param fields `[index, what the block notes of it, output]` */
  spentIn(body: Bytes, fields: List): Bytes
  /** The hash of a script that a transaction needs. @param need `Spent`, `Minted` or `Withdrawn` */
  neededIn(body: Bytes, need: Data): Bytes
}

function* open(book: RuleBook, header: Data, referenceInputs: List): Opening<Witnessed> {
  const transactions = yield* transactionsOf(book, header, referenceInputs)
  const { outputIn } = yield* notedOutputsOf(book, transactions)
  const { supplied, witnessSetIn } = yield* witnessSetsOf(book, referenceInputs)
  const spentIn = yield* bind(
    lambda<PByteString, PLam<PList<PData>, PByteString>>((body) =>
      lambda((fields) =>
        scope(function* () {
          const record = yield* bind(outputIn(inputAt(body, fields), at(fields, 1)))
          const output = yield* bind(supplied(at(fields, 2)))
          yield* bind(
            book.enforce({
              'output-is-recorded': equalsByteString(blake2b256(output), outputHashOf(record)),
            }),
          )
          return output
        }),
      ),
    ),
  )
  const neededIn = yield* bind(
    lambda<PByteString, PLam<PData, PByteString>>((body) =>
      lambda((need) =>
        scope(function* () {
          const fields = yield* bind(fieldsOf(need))
          return branch(
            constructorOf(need),
            [
              WitnessNeed.spent,
              scope(function* () {
                const address = yield* bind(addressIn(call<PByteString>(spentIn, body, fields)))
                yield* bind(book.enforce({ 'script-locks-input': isLockedBy('script', address) }))
                return paymentHashIn(address)
              }),
            ],
            [
              WitnessNeed.minted,
              scope(function* () {
                const policy = yield* bind(unBData(headList(fields)))
                yield* bind(book.enforce({ 'policy-is-minted': hasItem(body, BodyField.mint, policy) }))
                return sliceByteString(integer(2), integer(28), policy)
              }),
            ],
            [
              WitnessNeed.withdrawn,
              scope(function* () {
                const account = yield* bind(unBData(headList(fields)))
                yield* bind(
                  book.enforce({
                    'account-is-withdrawn': hasItem(body, BodyField.withdrawals, account),
                    'account-is-of-script': lessThanInteger(
                      integer(0xef),
                      indexByteString(account, integer(2)),
                    ),
                  }),
                )
                return sliceByteString(integer(3), integer(28), account)
              }),
            ],
          )
        }),
      ),
    ),
  )
  return {
    transactionIn: transactions.transactionIn,
    bodyIn: transactions.bodyIn,
    supplied,
    witnessSetIn,
    spentIn: (body, fields) => call<PByteString>(spentIn, body, fields),
    neededIn: (body, need) => call<PByteString>(neededIn, body, need),
  }
}

const inputAt = (body: Bytes, fields: List): Bytes =>
  referenceAt(body, referencesIn(body, BodyField.inputs), unIData(headList(fields)))

/** Whether an array or the keys of a map in a field of a body have an item, as it is encoded. */
const hasItem = (body: Bytes, field: number, item: Bytes): Bool =>
  lessThanInteger(
    integer(0),
    countIn(body, fieldAt(body, integer(0), field), (place) =>
      equalsByteString(itemBytes(body, place), item),
    ),
  )

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

type Check = FraudCheck<Witnessed>

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

/** A transaction with its body and its witness set, from `[transaction, witnesses, …]`. */
function* openedIn(block: Witnessed, fields: List) {
  const opening = yield* bind(unListData(at(fields, 0)))
  const body = yield* bind(block.bodyIn(opening))
  const record = yield* bind(unBData(at(opening, 1)))
  const witnesses = yield* bind(block.witnessSetIn(record, at(fields, 1)))
  return { record, body, witnesses }
}

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

/**
 * The script data hash is not that of redeemers, datums and the cost models of any languages, or there is one
 * without redeemers and datums. `[transaction, witnesses]`
 */
const wrongScriptDataHash =
  (views: LanguageViews): Check =>
  (book, block, fields) =>
    scope(function* () {
      const { body, witnesses } = yield* openedIn(block, fields)
      const stated = yield* bind(fieldAt(body, integer(0), BodyField.scriptDataHash))
      const redeemers = yield* bind(fieldOf(witnesses, 'redeemers'))
      const datums = yield* bind(fieldOf(witnesses, 'datums'))
      const scriptData = appendByteString(
        fieldBytes(witnesses, redeemers, noRedeemers),
        fieldBytes(witnesses, datums, new Uint8Array()),
      )
      return book.enforce({
        'script-data-hash-is-wrong': choose(
          either(isThere(redeemers), isThere(datums)),
          either(
            not(isThere(stated)),
            scope(function* () {
              const preimage = yield* bind(scriptData)
              const hash = yield* bind(stringAt(body, stated))
              return not(isOfLanguages(views, preimage, hash))
            }),
          ),
          isThere(stated),
        ),
      })
    })

/** What takes the place of absent redeemers in the preimage: an empty map. */
const noRedeemers = Uint8Array.of(0xa0)

/**
 * The cost model of each language of Plutus, as the script data hash holds it: key and value of an entry of a
 * map, in CBOR. In the order of the map: Plutus V2, V3, V1.
 */
export type LanguageViews = readonly [plutusV2: Data, plutusV3: Data, plutusV1: Data]

/** Whether a hash is that of script data with the cost models of some set of languages. */
const isOfLanguages = (views: LanguageViews, scriptData: Bytes, hash: Bytes): Bool =>
  scope(function* () {
    const isOf = yield* bind(
      lambda<PInt, PLam<PByteString, PBool>>((size) =>
        lambda((entries) =>
          equalsByteString(
            blake2b256(
              appendByteString(scriptData, consByteString(addInteger(integer(emptyMap), size), entries)),
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
        call<PBool>(
          isOf,
          integer(set.length),
          set
            .map(unBData)
            .reduceRight((rest: Bytes, view) => appendByteString(view, rest), bytes(new Uint8Array())),
        ),
      )
      .reduce((rest, each) => either(rest, each))
  })

const emptyMap = 0xa0

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
