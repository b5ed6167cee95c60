import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  bData,
  blake2b224,
  blake2b256,
  boolean,
  bytes,
  consByteString,
  equalsByteString,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  listOf,
  multiplyInteger,
  prepend,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import { both, branch, either, includes, not } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import {
  argumentAt,
  countIn,
  elementAt,
  fieldAt,
  isEnd,
  isString,
  stringAt,
  untagged,
  withArray,
} from './read.js'
import { isThere } from './references.js'
import { itemBytes, skip } from './skip.js'

/*
 * The contents of a witness set, and whether it satisfies a native script. A key witness must be encoded as a
 * definite array with heads in their shortest form; otherwise what reads it fails.
 */

/** The fields of a witness set, by their key in the CDDL. */
export const WitnessField = {
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
export const fieldOf = (witnesses: Bytes, field: keyof typeof WitnessField): Int =>
  fieldAt(witnesses, integer(0), WitnessField[field])

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

/** Whether an item is a key witness (array of two) or bootstrap witness (four): key and signature first. */
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

/** The length of a key witness: the head of an array of two, a key and a signature with their heads. */
const keyWitnessLength = 101

/** The hashes of the keys that signed, without bootstrap witnesses. Fails at a malformed key witness. */
export const signersIn = define<PByteString, PList<PData>>((witnesses) =>
  scope(function* () {
    const field = yield* bind(fieldOf(witnesses, 'keyWitnesses'))
    return choose(
      isThere(field),
      withArray(witnesses, untagged(witnesses, field), (count, first) =>
        call<PList<PData>>(
          recursive<PInt, PLam<PInt, PList<PData>>>((self, left) =>
            lambda((witness) =>
              choose(
                isEnd(witnesses, left, witness),
                listOf(),
                choose(
                  isWitness(witnesses, boolean(false), witness),
                  prepend(
                    bData(
                      blake2b224(sliceByteString(addInteger(witness, integer(3)), integer(32), witnesses)),
                    ),
                    call<PList<PData>>(
                      self(subtractInteger(left, integer(1))),
                      addInteger(witness, integer(keyWitnessLength)),
                    ),
                  ),
                  fail(),
                ),
              ),
            ),
          )(count),
          first,
        ),
      ),
      listOf(),
    )
  }),
)

export const isSigned = (signers: List, keyHash: Bytes): Bool => includes(signers, bData(keyHash))

/** The kinds of native scripts, by their number in the CDDL. */
const Native = { signature: 0, all: 1, any: 2, atLeast: 3, invalidBefore: 4, invalidHereafter: 5 } as const

/** The facts that native scripts ask of a transaction: its signers, and the bounds of its interval. */
interface Satisfying {
  readonly signers: List
  readonly body: Bytes
  readonly from: Int
  readonly until: Int
}

export const isSatisfied = (script: Bytes, { signers, body, from, until }: Satisfying): Bool =>
  recursive<PInt, PBool>((self, place) =>
    withArray(script, place, (_size, kind) =>
      scope(function* () {
        const content = yield* bind(skip(script, integer(1), kind))
        const number = argumentAt(script, content)
        const bound = (at: Int, satisfied: (bound: Int) => Bool): Bool =>
          both(isThere(at), satisfied(argumentAt(body, at)))
        return branch(
          argumentAt(script, kind),
          [Native.signature, isSigned(signers, stringAt(script, content))],
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
          [Native.invalidBefore, bound(from, (start) => lessThanEqualsInteger(number, start))],
          [Native.invalidHereafter, bound(until, (end) => lessThanEqualsInteger(end, number))],
        )
      }),
    ),
  )(integer(0))

/** The hash of a script. @param language 0 native, else the version of Plutus */
export const hashOfScript = defineOf<[PInt, PByteString], PByteString>(2, (language, script) =>
  blake2b224(consByteString(language, script)),
)

/** The language byte of a field's scripts, by the field's key; {@link noLanguage} for other fields. */
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
        const isScript = (place: Int, behind: Int): Bool => {
          const isOf = (script: Bytes) => equalsByteString(hashOfScript(language, script), hash)
          return choose(
            equalsInteger(language, integer(0)),
            isOf(sliceByteString(place, subtractInteger(behind, place), witnesses)),
            // An item that is no string is no script.
            both(isString(indexByteString(witnesses, place)), isOf(stringAt(witnesses, place))),
          )
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

/** Whether a redeemer is at a place: in a map `[purpose, index]: …`, in a list `[purpose, index, …]`. */
export const hasRedeemer = defineOf<[PByteString, PInt, PInt], PBool>(3, (witnesses, redeemers, wanted) =>
  isSome(
    countIn(witnesses, redeemers, (redeemer) =>
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

/** Whether there is a datum at the place of datums, by its hash. */
export const hasDatum = (witnesses: Bytes, datums: Int, hash: Bytes): Bool =>
  isSome(
    countIn(witnesses, datums, (datum, behind) =>
      equalsByteString(blake2b256(sliceByteString(datum, subtractInteger(behind, datum), witnesses)), hash),
    ),
  )

/** The item at the place of a field, as it is encoded; other bytes `nowhere`. */
export const fieldBytes = (witnesses: Bytes, place: Int, otherwise: Uint8Array): Bytes =>
  choose(isThere(place), itemBytes(witnesses, place), bytes(otherwise))
