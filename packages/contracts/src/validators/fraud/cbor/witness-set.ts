import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { both, branch, either, includes, not } from '../../core/data.js'
import * as p from '../../core/term.js'
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
export const fieldOf = (witnesses: p.Bytes, field: keyof typeof WitnessField): p.Int =>
  fieldAt(witnesses, p.integer(0), WitnessField[field])

const isSome = (count: p.Int): p.Bool => p.lessThanInteger(p.integer(0), count)

const beginsWith = (cbor: p.Bytes, place: p.Int, start: Uint8Array): p.Bool =>
  p.equalsByteString(p.sliceByteString(place, p.integer(start.length), cbor), p.bytes(start))

const keyStart = Uint8Array.of(0x58, 32)
const signatureStart = Uint8Array.of(0x58, 64)

const hasKeyAndSignature = (witnesses: p.Bytes, witness: p.Int): p.Bool =>
  both(
    beginsWith(witnesses, p.addInteger(witness, p.integer(1)), keyStart),
    beginsWith(witnesses, p.addInteger(witness, p.integer(35)), signatureStart),
  )

/** Whether an item is a key witness (array of two) or bootstrap witness (four): key and signature first. */
export const isWitness = (witnesses: p.Bytes, isBootstrap: p.Bool, witness: p.Int): p.Bool =>
  both(
    p.equalsInteger(
      p.indexByteString(witnesses, witness),
      p.choose(isBootstrap, p.integer(0x84), p.integer(0x82)),
    ),
    hasKeyAndSignature(witnesses, witness),
  )

/** The public key of the key witness or bootstrap witness at a place: `[key, signature, …]`. */
export const publicKeyAt = p.defineOf<[PByteString, PInt], PByteString>(2, (witnesses, witness) =>
  p.choose(
    hasKeyAndSignature(witnesses, witness),
    p.sliceByteString(p.addInteger(witness, p.integer(3)), p.integer(32), witnesses),
    p.fail(),
  ),
)

export const signatureAt = (witnesses: p.Bytes, witness: p.Int): p.Bytes =>
  p.sliceByteString(p.addInteger(witness, p.integer(37)), p.integer(64), witnesses)

/** Where the key witness or bootstrap witness at an index is; `nowhere` behind the last. */
export const witnessAt = (witnesses: p.Bytes, isBootstrap: p.Bool, index: p.Int): p.Int =>
  elementAt(
    witnesses,
    untagged(
      witnesses,
      p.choose(isBootstrap, fieldOf(witnesses, 'bootstrapWitnesses'), fieldOf(witnesses, 'keyWitnesses')),
    ),
    index,
  )

/** The length of a key witness: the head of an array of two, a key and a signature with their heads. */
const keyWitnessLength = 101

/** The hashes of the keys that signed, without bootstrap witnesses. Fails at a malformed key witness. */
export const signersIn = p.define<PByteString, PList<PData>>((witnesses) =>
  p.scope(function* () {
    const field = yield* p.bind(fieldOf(witnesses, 'keyWitnesses'))
    return p.choose(
      isThere(field),
      withArray(witnesses, untagged(witnesses, field), (count, first) =>
        p.call<PList<PData>>(
          p.recursive<PInt, PLam<PInt, PList<PData>>>((self, left) =>
            p.lambda((witness) =>
              p.choose(
                isEnd(witnesses, left, witness),
                p.listOf(),
                p.choose(
                  isWitness(witnesses, p.boolean(false), witness),
                  p.prepend(
                    p.bData(
                      p.blake2b224(
                        p.sliceByteString(p.addInteger(witness, p.integer(3)), p.integer(32), witnesses),
                      ),
                    ),
                    p.call<PList<PData>>(
                      self(p.subtractInteger(left, p.integer(1))),
                      p.addInteger(witness, p.integer(keyWitnessLength)),
                    ),
                  ),
                  p.fail(),
                ),
              ),
            ),
          )(count),
          first,
        ),
      ),
      p.listOf(),
    )
  }),
)

export const isSigned = (signers: p.List, keyHash: p.Bytes): p.Bool => includes(signers, p.bData(keyHash))

/** The kinds of native scripts, by their number in the CDDL. */
const Native = { signature: 0, all: 1, any: 2, atLeast: 3, invalidBefore: 4, invalidHereafter: 5 } as const

/** The facts that native scripts ask of a transaction: its signers, and the bounds of its interval. */
interface Satisfying {
  readonly signers: p.List
  readonly body: p.Bytes
  readonly from: p.Int
  readonly until: p.Int
}

export const isSatisfied = (script: p.Bytes, { signers, body, from, until }: Satisfying): p.Bool =>
  p.recursive<PInt, PBool>((self, place) =>
    withArray(script, place, (_size, kind) =>
      p.scope(function* () {
        const content = yield* p.bind(skip(script, p.integer(1), kind))
        const number = argumentAt(script, content)
        const bound = (at: p.Int, satisfied: (bound: p.Int) => p.Bool): p.Bool =>
          both(isThere(at), satisfied(argumentAt(body, at)))
        return branch(
          argumentAt(script, kind),
          [Native.signature, isSigned(signers, stringAt(script, content))],
          [
            Native.all,
            p.equalsInteger(
              countIn(script, content, (part) => not(self(part))),
              p.integer(0),
            ),
          ],
          [Native.any, isSome(countIn(script, content, self))],
          [
            Native.atLeast,
            // The number may be negative.
            either(
              p.lessThanInteger(p.integer(0x1f), p.indexByteString(script, content)),
              p.lessThanEqualsInteger(number, countIn(script, skip(script, p.integer(1), content), self)),
            ),
          ],
          [Native.invalidBefore, bound(from, (start) => p.lessThanEqualsInteger(number, start))],
          [Native.invalidHereafter, bound(until, (end) => p.lessThanEqualsInteger(end, number))],
        )
      }),
    ),
  )(p.integer(0))

/** The hash of a script. @param language 0 native, else the version of Plutus */
export const hashOfScript = p.defineOf<[PInt, PByteString], PByteString>(2, (language, script) =>
  p.blake2b224(p.consByteString(language, script)),
)

/** The language byte of a field's scripts, by the field's key; {@link noLanguage} for other fields. */
const languageByField = Uint8Array.of(255, 0, 255, 1, 255, 255, 2, 3)
const noLanguage = 255

/** Whether a witness set has a script, by its hash. Fails at fields that no witness set has. */
export const hasScript = (witnesses: p.Bytes, hash: p.Bytes): p.Bool =>
  isSome(
    countIn(witnesses, p.integer(0), (field) =>
      p.scope(function* () {
        const language = yield* p.bind(
          p.indexByteString(p.bytes(languageByField), p.indexByteString(witnesses, field)),
        )
        const isScript = (place: p.Int, behind: p.Int): p.Bool => {
          const isOf = (script: p.Bytes) => p.equalsByteString(hashOfScript(language, script), hash)
          return p.choose(
            p.equalsInteger(language, p.integer(0)),
            isOf(p.sliceByteString(place, p.subtractInteger(behind, place), witnesses)),
            // An item that is no string is no script.
            both(isString(p.indexByteString(witnesses, place)), isOf(stringAt(witnesses, place))),
          )
        }
        return both(
          p.lessThanInteger(language, p.integer(noLanguage)),
          isSome(countIn(witnesses, p.addInteger(field, p.integer(1)), isScript)),
        )
      }),
    ),
  )

/** A redeemer's purpose and index as one number. */
export const pointer = (purpose: p.Int, index: p.Int): p.Int =>
  p.addInteger(p.multiplyInteger(index, p.integer(8)), purpose)

/** Whether a redeemer is at a place: in a map `[purpose, index]: …`, in a list `[purpose, index, …]`. */
export const hasRedeemer = p.defineOf<[PByteString, PInt, PInt], PBool>(3, (witnesses, redeemers, wanted) =>
  isSome(
    countIn(witnesses, redeemers, (redeemer) =>
      withArray(witnesses, redeemer, (_size, purpose) =>
        p.equalsInteger(
          pointer(
            argumentAt(witnesses, purpose),
            argumentAt(witnesses, skip(witnesses, p.integer(1), purpose)),
          ),
          wanted,
        ),
      ),
    ),
  ),
)

/** Whether there is a datum at the place of datums, by its hash. */
export const hasDatum = (witnesses: p.Bytes, datums: p.Int, hash: p.Bytes): p.Bool =>
  isSome(
    countIn(witnesses, datums, (datum, behind) =>
      p.equalsByteString(
        p.blake2b256(p.sliceByteString(datum, p.subtractInteger(behind, datum), witnesses)),
        hash,
      ),
    ),
  )

/** The item at the place of a field, as it is encoded; other bytes `nowhere`. */
export const fieldBytes = (witnesses: p.Bytes, place: p.Int, otherwise: Uint8Array): p.Bytes =>
  p.choose(isThere(place), itemBytes(witnesses, place), p.bytes(otherwise))
