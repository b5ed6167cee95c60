import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  bData,
  blake2b256,
  bytes,
  consByteString,
  equalsByteString,
  headList,
  integer,
  integerToByteString,
  listOf,
  nullList,
  tailList,
  unBData,
  unIData,
  unListData,
  unMapData,
} from '../../core/builtins.js'
import { hasKey, lookUp, resolvedOf, valueFieldOf } from '../../core/context.js'
import { at, both, itemAt, itemsBehind, not } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import { withFields } from '../cbor/fields.js'
import { untagged } from '../cbor/read.js'
import { BodyField, isThere, keysBefore } from '../cbor/references.js'
import { type Accused, type Evidence, positionOf } from '../openings.js'
import type { FraudCheck as Check } from '../policy.js'
import { positionKey, resolvedHashOf } from '../records.js'
import { hashUnder } from './resolved-frauds.js'

/*
 * Resolutions: what references of a transaction stand for, where the hashes of the record are not known. One
 * proof of all has no bound, because the maker of an output chooses how deep it is in the maps. So tokens
 * show parts, each of consecutive references, and the proof refers to the tokens.
 */

/** The tokens that show what references of the header's transactions stand for. */
export interface Resolutions {
  /** The beginning of each token's name before it is hashed. */
  about(position: Int): Bytes
  /** Whether a reference input holds the token with a name. */
  holds(referenceInput: Int, name: Bytes): Bool
}

export const resolutionsOf = ({ headerHash, referenceInputs, policy }: Evidence): Resolutions => ({
  about: (position) => appendByteString(headerHash, positionKey(position)),
  holds: (referenceInput, name) =>
    scope(function* () {
      const value = yield* bind(unMapData(valueFieldOf(resolvedOf(itemAt(referenceInputs, referenceInput)))))
      return both(hasKey(value, policy), hasKey(unMapData(lookUp(value, policy)), bData(name)))
    }),
})

/**
 * The name of the token of the references from `first` up to `next`. A part that ends the references has
 * another name: only with it are the hashes those of all. A reference to nothing adds no hash.
 */
const nameOf = defineOf<[PByteString, PInt, PInt, PInt, PByteString], PByteString>(
  5,
  (about, first, next, isLast, hashes) =>
    blake2b256(
      appendByteString(
        about,
        appendByteString(
          integerToByteString(4, first),
          appendByteString(integerToByteString(4, next), consByteString(isLast, hashes)),
        ),
      ),
    ),
)

/**
 * The name of the token that shows what some inputs and, behind them, reference inputs stand for:
 * `[transaction, first, outputs]`, with a list of `[output, before]`, one for each reference.
 */
export const resolutionName = (block: Accused & Resolutions, fields: List): Bytes =>
  scope(function* () {
    const opening = yield* bind(unListData(at(fields, 0)))
    const body = yield* bind(block.bodyIn(opening))
    const first = yield* bind(unIData(at(fields, 1)))
    const about = yield* bind(block.about(positionOf(opening)))
    const named = (keys: List) =>
      call<PByteString>(
        recursive<PList<PData>, PLam<PList<PData>, PLam<PInt, PLam<PByteString, PByteString>>>>(
          (self, outputs) =>
            lambda((rest) =>
              lambda((next) =>
                lambda((hashes) =>
                  choose(
                    nullList(outputs),
                    nameOf(about, first, next, choose(nullList(rest), integer(1), integer(0)), hashes),
                    scope(function* () {
                      const output = yield* bind(unListData(headList(outputs)))
                      return call<PByteString>(
                        self(tailList(outputs)),
                        tailList(rest),
                        addInteger(next, integer(1)),
                        appendByteString(
                          hashes,
                          hashUnder(block, unBData(headList(rest)), at(output, 0), at(output, 1)),
                        ),
                      )
                    }),
                  ),
                ),
              ),
            ),
        )(unListData(at(fields, 2))),
        itemsBehind(keys, first),
        first,
        bytes(new Uint8Array()),
      )
    return withFields(body, [BodyField.inputs, BodyField.referenceInputs], (inputs, read) =>
      named(
        keysBefore(
          body,
          untagged(body, inputs),
          choose(isThere(read), keysBefore(body, untagged(body, read), listOf()), listOf()),
        ),
      ),
    )
  })

/**
 * The hash of a transaction's record is not that of the outputs that inputs and, behind them, reference
 * inputs stand for: also where no one knows of what it is. `[position, record, proof, parts]`: each part is
 * `[hashes, next, reference input]`, the next begins at the reference `next`
 */
export const wrongResolvedHash: Check<Accused & Resolutions> = (book, block, fields) =>
  scope(function* () {
    const record = yield* bind(block.transactionIn(fields))
    const about = yield* bind(block.about(positionOf(fields)))
    const hashes = yield* bind(
      call<PByteString>(
        recursive<PList<PData>, PLam<PInt, PByteString>>((self, parts) =>
          lambda((first) =>
            scope(function* () {
              const part = yield* bind(unListData(headList(parts)))
              const rest = yield* bind(tailList(parts))
              const isLast = yield* bind(nullList(rest))
              const shown = yield* bind(unBData(at(part, 0)))
              const next = yield* bind(unIData(at(part, 1)))
              const name = nameOf(about, first, next, choose(isLast, integer(1), integer(0)), shown)
              yield* bind(book.enforce({ 'part-is-shown': block.holds(unIData(at(part, 2)), name) }))
              return choose(isLast, shown, appendByteString(shown, call<PByteString>(self(rest), next)))
            }),
          ),
        )(unListData(at(fields, 3))),
        integer(0),
      ),
    )
    return book.enforce({
      'resolved-is-wrong': not(equalsByteString(blake2b256(hashes), resolvedHashOf(record))),
    })
  })
