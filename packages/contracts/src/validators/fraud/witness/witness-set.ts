import type { PBool, PByteString, PInt } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  blake2b224,
  blake2b256,
  bytes,
  consByteString,
  equalsByteString,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  multiplyInteger,
  sliceByteString,
} from '../../core/builtins.js'
import { both, branch, either, not } from '../../core/data.js'
import { type Bool, type Bytes, bind, choose, defineOf, type Int, recursive, scope } from '../../core/term.js'
import { argumentAt, countIn, elementAt, fieldAt, stringAt, untagged, withArray } from '../cbor/read.js'
import { BodyField, isThere } from '../cbor/references.js'
import { itemBytes, skip } from '../cbor/skip.js'

/*
 * What a witness set has, and whether it satisfies a native script. A key witness must be encoded as a
 * definite array with heads in their shortest form; otherwise what reads it fails.
 */

/** The fields of a witness set, by their key in the CDDL. */
const fields = {
  keyWitnesses: 0,
  nativeScripts: 1,
  bootstrapWitnesses: 2,
  plutusV1Scripts: 3,
  datums: 4,
  redeemers: 5,
  plutusV2Scripts: 6,
  plutusV3Scripts: 7,
} as const

/** Where a field is; `nowhere` if the witness set lacks it. */
export const fieldOf = (witnesses: Bytes, field: keyof typeof fields): Int =>
  fieldAt(witnesses, integer(0), fields[field])

const isSome = (count: Int): Bool => lessThanInteger(integer(0), count)

const beginsWith = (cbor: Bytes, place: Int, start: Uint8Array): Bool =>
  equalsByteString(sliceByteString(place, integer(start.length), cbor), bytes(start))

const keyStart = Uint8Array.of(0x58, 32)
const signatureStart = Uint8Array.of(0x58, 64)

const hasKeyAndSignature = (witnesses: Bytes, witness: Int): Bool =>
  both(
    beginsWith(witnesses, addInteger(witness, integer(1)), keyStart),
    beginsWith(witnesses, addInteger(witness, integer(35)), signatureStart),
  )

/**
 * Whether the item at a place is a key witness, a definite array of two items, or a bootstrap witness, of
 * four, that begins with key and signature.
 */
export const isWitness = (witnesses: Bytes, isBootstrap: Bool, witness: Int): Bool =>
  both(
    equalsInteger(indexByteString(witnesses, witness), choose(isBootstrap, integer(0x84), integer(0x82))),
    hasKeyAndSignature(witnesses, witness),
  )

/** The public key of the key witness or bootstrap witness at a place: `[key, signature, …]`. */
export const publicKeyAt = defineOf<[PByteString, PInt], PByteString>(2, (witnesses, witness) =>
  choose(
    hasKeyAndSignature(witnesses, witness),
    sliceByteString(addInteger(witness, integer(3)), integer(32), witnesses),
    fail(),
  ),
)

/** The signature of the same. */
export const signatureAt = (witnesses: Bytes, witness: Int): Bytes =>
  sliceByteString(addInteger(witness, integer(37)), integer(64), witnesses)

/** Where the key witness or bootstrap witness at an index is; `nowhere` behind the last. */
export const witnessAt = (witnesses: Bytes, isBootstrap: Bool, index: Int): Int =>
  elementAt(
    witnesses,
    untagged(
      witnesses,
      choose(isBootstrap, fieldOf(witnesses, 'bootstrapWitnesses'), fieldOf(witnesses, 'keyWitnesses')),
    ),
    index,
  )

/** Whether a key has signed, by its hash. Bootstrap witnesses do not count. */
export const isSigned = defineOf<[PByteString, PByteString], PBool>(2, (witnesses, keyHash) =>
  isSome(
    countIn(witnesses, fieldOf(witnesses, 'keyWitnesses'), (witness) =>
      equalsByteString(blake2b224(publicKeyAt(witnesses, witness)), keyHash),
    ),
  ),
)

/** The kinds of native scripts, by their number in the CDDL. */
const Native = { signature: 0, all: 1, any: 2, atLeast: 3, invalidBefore: 4, invalidHereafter: 5 } as const

/** Whether a native script is satisfied by the keys that have signed and the validity interval of a body. */
export const isSatisfied = (script: Bytes, body: Bytes, witnesses: Bytes): Bool =>
  recursive<PInt, PBool>((self, place) =>
    withArray(script, place, (_size, kind) =>
      scope(function* () {
        const content = yield* bind(skip(script, integer(1), kind))
        const number = argumentAt(script, content)
        const bound = (field: number, satisfied: (bound: Int) => Bool): Bool =>
          scope(function* () {
            const at = yield* bind(fieldAt(body, integer(0), field))
            return both(isThere(at), satisfied(argumentAt(body, at)))
          })
        return branch(
          argumentAt(script, kind),
          [Native.signature, isSigned(witnesses, stringAt(script, content))],
          [
            Native.all,
            equalsInteger(
              countIn(script, content, (part) => not(self(part))),
              integer(0),
            ),
          ],
          [Native.any, isSome(countIn(script, content, self))],
          [
            Native.atLeast,
            // The number may be negative.
            either(
              lessThanInteger(integer(0x1f), indexByteString(script, content)),
              lessThanEqualsInteger(number, countIn(script, skip(script, integer(1), content), self)),
            ),
          ],
          [
            Native.invalidBefore,
            bound(BodyField.invalidBefore, (start) => lessThanEqualsInteger(number, start)),
          ],
          [
            Native.invalidHereafter,
            bound(BodyField.invalidHereafter, (end) => lessThanEqualsInteger(end, number)),
          ],
        )
      }),
    ),
  )(integer(0))

/** The hash of a script. @param language 0 native, else the version of Plutus */
export const hashOfScript = defineOf<[PInt, PByteString], PByteString>(2, (language, script) =>
  blake2b224(consByteString(language, script)),
)

/**
 * The language byte of the scripts in a field of a witness set, by the field's key; {@link noLanguage} for
 * other fields.
 */
const languageByField = Uint8Array.of(255, 0, 255, 1, 255, 255, 2, 3)
const noLanguage = 255

/** Whether a witness set has a script, by its hash. Fails at fields that no witness set has. */
export const hasScript = (witnesses: Bytes, hash: Bytes): Bool =>
  isSome(
    countIn(witnesses, integer(0), (field) =>
      scope(function* () {
        const language = yield* bind(
          indexByteString(bytes(languageByField), indexByteString(witnesses, field)),
        )
        const isScript = (place: Int): Bool => {
          const script = choose(
            equalsInteger(language, integer(0)),
            itemBytes(witnesses, place),
            stringAt(witnesses, place),
          )
          return equalsByteString(hashOfScript(language, script), hash)
        }
        return both(
          lessThanInteger(language, integer(noLanguage)),
          isSome(countIn(witnesses, addInteger(field, integer(1)), isScript)),
        )
      }),
    ),
  )

/** A redeemer's purpose and index as one number. */
export const pointer = (purpose: Int, index: Int): Int =>
  addInteger(multiplyInteger(index, integer(8)), purpose)

/**
 * Whether a witness set has a redeemer; those of a map are `[purpose, index]: …`, those of a list
 * `[purpose, index, …]`.
 */
export const hasRedeemer = defineOf<[PByteString, PInt], PBool>(2, (witnesses, wanted) =>
  isSome(
    countIn(witnesses, fieldOf(witnesses, 'redeemers'), (redeemer) =>
      withArray(witnesses, redeemer, (_size, purpose) =>
        equalsInteger(
          pointer(
            argumentAt(witnesses, purpose),
            argumentAt(witnesses, skip(witnesses, integer(1), purpose)),
          ),
          wanted,
        ),
      ),
    ),
  ),
)

/** Whether a witness set has a datum, by its hash. */
export const hasDatum = defineOf<[PByteString, PByteString], PBool>(2, (witnesses, hash) =>
  isSome(
    countIn(witnesses, fieldOf(witnesses, 'datums'), (datum) =>
      equalsByteString(blake2b256(itemBytes(witnesses, datum)), hash),
    ),
  ),
)

/** The item at the place of a field, as it is encoded; other bytes `nowhere`. */
export const fieldBytes = (witnesses: Bytes, place: Int, otherwise: Uint8Array): Bytes =>
  choose(isThere(place), itemBytes(witnesses, place), bytes(otherwise))
