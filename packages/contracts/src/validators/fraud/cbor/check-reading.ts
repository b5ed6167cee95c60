import type { PByteString, PInt } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  bytes,
  equalsByteString,
  equalsInteger,
  fail,
  integer,
  integerToByteString,
  unBData,
  unitValue,
} from '../../core/builtins.js'
import { redeemerOf } from '../../core/context.js'
import { at, fieldsOf } from '../../core/data.js'
import type { RuleBook } from '../../core/rules.js'
import {
  type Bytes,
  bind,
  choose,
  type Data,
  type Int,
  recursive,
  scope,
  traced,
  type Unit,
} from '../../core/term.js'
import { argumentAt, elementAt, fieldAt } from './read.js'
import { BodyField, hasReference, isThere, referenceAt, referenceCount, referencesIn } from './references.js'
import { itemBytes } from './skip.js'

const nothing = (): Bytes => bytes(new Uint8Array())

/** Items from index 0 up to the first that `read` has no bytes for. */
const collect = (read: (index: Int, rest: Bytes) => Bytes): Bytes =>
  recursive<PInt, PByteString>((self, index) => read(index, self(addInteger(index, integer(1)))))(integer(0))

const references = (body: Bytes, set: Int): Bytes =>
  scope(function* () {
    const count = yield* bind(referenceCount(body, set))
    return collect((index, rest) =>
      choose(
        equalsInteger(index, count),
        nothing(),
        scope(function* () {
          const reference = yield* bind(referenceAt(body, set, index))
          return choose(
            hasReference(body, set, reference),
            appendByteString(reference, rest),
            // Never: what is at an index is in the set.
            nothing(),
          )
        }),
      ),
    )
  })

/**
 * A test validator that succeeds if it reads a body as the redeemer `[body, reading]` states: the inputs, the
 * reference inputs, the fee in 8 bytes, and the outputs as encoded.
 */
export const readingCheck = (_book: RuleBook, context: Data): Unit =>
  scope(function* () {
    const fields = yield* bind(fieldsOf(redeemerOf(context)))
    const body = yield* bind(unBData(at(fields, 0)))
    const inputs = yield* bind(referencesIn(body, BodyField.inputs))
    const referenceInputs = fieldAt(body, integer(0), BodyField.referenceInputs)
    const outputs = yield* bind(fieldAt(body, integer(0), BodyField.outputs))
    const fee = argumentAt(body, fieldAt(body, integer(0), BodyField.fee))
    const read = [
      references(body, inputs),
      choose(
        isThere(referenceInputs),
        references(body, referencesIn(body, BodyField.referenceInputs)),
        nothing(),
      ),
      integerToByteString(8, fee),
      collect((index, rest) =>
        scope(function* () {
          const place = yield* bind(elementAt(body, outputs, index))
          return choose(isThere(place), appendByteString(itemBytes(body, place), rest), nothing())
        }),
      ),
    ].reduceRight((rest, part) => appendByteString(part, rest))
    // A body whose reading fails is refused; a misread body is traced.
    const reading = yield* bind(read)
    return choose(equalsByteString(reading, unBData(at(fields, 1))), unitValue(), traced('misread', fail()))
  })
