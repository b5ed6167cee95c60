import type { PBool, PByteString, PInt, PLam } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  blake2b256,
  bytes,
  consByteString,
  equalsByteString,
  integer,
  unBData,
} from '../../core/builtins.js'
import { either, not } from '../../core/data.js'
import { type Bool, type Bytes, bind, call, choose, type Data, lambda, scope } from '../../core/term.js'
import { withFields } from '../cbor/fields.js'
import { fieldAt, stringAt } from '../cbor/read.js'
import { BodyField, isThere } from '../cbor/references.js'
import { fieldBytes, WitnessField } from '../cbor/witness-set.js'
import { type Check, openedIn } from './opening.js'

/**
 * The script data hash is not that of redeemers, datums and the cost models of any languages, or there is one
 * without redeemers and datums. `[transaction, witnesses]`
 */
export const wrongScriptDataHash =
  (views: LanguageViews): Check =>
  (book, block, fields) =>
    scope(function* () {
      const { body, witnesses } = yield* openedIn(block, fields)
      const stated = yield* bind(fieldAt(body, integer(0), BodyField.scriptDataHash))
      return withFields(witnesses, [WitnessField.redeemers, WitnessField.datums], (redeemers, datums) =>
        book.enforce({
          'script-data-hash-is-wrong': choose(
            either(isThere(redeemers), isThere(datums)),
            either(
              not(isThere(stated)),
              scope(function* () {
                const preimage = yield* bind(
                  appendByteString(
                    fieldBytes(witnesses, redeemers, noRedeemers),
                    fieldBytes(witnesses, datums, new Uint8Array()),
                  ),
                )
                const hash = yield* bind(stringAt(body, stated))
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
