import type { PBool, PByteString, PInt } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  boolean,
  bytes as constant,
  equalsByteString,
  equalsInteger,
  indexByteString,
  integer,
  lessThanInteger,
  sliceByteString,
} from '../../core/builtins.js'
import { both, branch, either, every } from '../../core/data.js'
import { type Bool, type Bytes, bind, choose, defineOf, type Int, scope } from '../../core/term.js'
import { countIn, elementAt, fieldUnder, isArray, isMap, isString, keyAt, untagged } from './read.js'
import { isThere } from './references.js'
import { skip } from './skip.js'

/*
 * Shapes that the ledger's decoder asks for, and that the frauds rely on. The decoder refuses every other
 * shape, but not the reverse. Bytes must be well-formed CBOR in shortest heads, or
 * reading may fail.
 */

/** The types of the fields of bodies and witness sets. */
const type = { any: 0, number: 1, array: 2, set: 3, map: 4, mint: 5, arrayOrMap: 6 } as const

const typesOf = (types: Partial<Record<number, number>>, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, (_, key) => types[key] ?? type.any)

const { number, array, set, map, mint, arrayOrMap } = type
const body = typesOf(
  {
    0: set,
    1: array,
    2: number,
    3: number,
    5: map,
    8: number,
    9: mint,
    13: set,
    14: set,
    15: number,
    17: number,
    18: set,
  },
  24,
)
const witnessSet = typesOf({ 0: set, 1: set, 2: set, 3: set, 4: set, 5: arrayOrMap, 6: set, 7: set }, 8)

/** The fields that a body needs come first: inputs, outputs and fee. */
const neededFields = 3

const isUint = (first: Int): Bool => lessThanInteger(first, integer(0x20))

/**
 * Whether a body is not a map, has an unknown, repeated or mistyped field, or lacks a required one.
 * @param key the first byte of the field's key
 * @param asset that is read of a mint
 */
export const isStrangeBody = (cbor: Bytes, key: Int, asset: AssetTerms): Bool =>
  isStrange(cbor, key, asset, body, neededFields)

/** The same of a witness set, which needs no fields. */
export const isStrangeWitnessSet = (cbor: Bytes, key: Int): Bool =>
  isStrange(cbor, key, { policy: integer(0), name: integer(0) }, witnessSet, 0)

const isStrange = (cbor: Bytes, key: Int, asset: AssetTerms, types: Uint8Array, needed: number): Bool =>
  isStrangeAmong(cbor, key, asset.policy, asset.name, constant(types), integer(types.length), integer(needed))

const isStrangeAmong = defineOf<[PByteString, PInt, PInt, PInt, PByteString, PInt, PInt], PBool>(
  7,
  (cbor, key, policy, name, types, known, needed) =>
    choose(
      isMap(indexByteString(cbor, integer(0))),
      scope(function* () {
        const count = yield* bind(
          countIn(cbor, integer(0), (place) => equalsInteger(indexByteString(cbor, place), key)),
        )
        return choose(
          equalsInteger(count, integer(1)),
          choose(
            lessThanInteger(key, known),
            isOfOtherType(cbor, key, { policy, name }, types),
            boolean(true),
          ),
          either(
            lessThanInteger(integer(1), count),
            both(lessThanInteger(integer(-1), key), lessThanInteger(key, needed)),
          ),
        )
      }),
      boolean(true),
    ),
)

const isOfOtherType = (cbor: Bytes, key: Int, asset: AssetTerms, types: Bytes): Bool =>
  scope(function* () {
    const place = yield* bind(fieldUnder(cbor, integer(0), key))
    const first = yield* bind(indexByteString(cbor, place))
    const is = (condition: Bool): Bool => choose(condition, boolean(false), boolean(true))
    return branch(
      indexByteString(types, key),
      [type.any, boolean(false)],
      [type.number, is(isUint(first))],
      [type.array, is(isArray(first))],
      [type.set, is(isArray(indexByteString(cbor, untagged(cbor, place))))],
      [type.map, is(isMap(first))],
      [type.mint, is(areAssets(cbor, place, asset, 0x40))],
      [type.arrayOrMap, is(either(isArray(first), isMap(first)))],
    )
  })

/** The head of a policy id, a string of 28 bytes, and the length of both. */
const policyHead = Uint8Array.of(0x58, 28)
const policyLength = 30

/**
 * Whether an item maps policies to names to quantities. Only the one `asset` is read; true without it.
 * @param bound above the first bytes of quantities: 0x20 if they are positive, 0x40 otherwise
 */
const areAssets = (cbor: Bytes, assets: Int, asset: AssetTerms, bound: number): Bool =>
  hasAsset(cbor, assets, asset.policy, asset.name, integer(bound))

/** The place of an asset in a value or a mint. */
export interface AssetTerms {
  readonly policy: Int
  readonly name: Int
}

const hasAsset = defineOf<[PByteString, PInt, PInt, PInt, PInt], PBool>(
  5,
  (cbor, assets, policyIndex, nameIndex, bound) =>
    both(
      isMap(indexByteString(cbor, assets)),
      scope(function* () {
        const policy = yield* bind(keyAt(cbor, assets, policyIndex))
        return choose(
          isThere(policy),
          scope(function* () {
            const names = yield* bind(addInteger(policy, integer(policyLength)))
            return every(
              equalsByteString(
                sliceByteString(policy, integer(policyHead.length), cbor),
                constant(policyHead),
              ),
              isMap(indexByteString(cbor, names)),
              scope(function* () {
                const name = yield* bind(keyAt(cbor, names, nameIndex))
                return choose(isThere(name), isNameWithQuantity(cbor, name, bound), boolean(true))
              }),
            )
          }),
          boolean(true),
        )
      }),
    ),
)

/** Whether there is a name of at most 32 bytes with a quantity. */
const isNameWithQuantity = (cbor: Bytes, name: Int, bound: Int): Bool =>
  scope(function* () {
    const first = yield* bind(indexByteString(cbor, name))
    return both(
      choose(
        equalsInteger(first, integer(0x58)),
        lessThanInteger(indexByteString(cbor, addInteger(name, integer(1))), integer(33)),
        both(lessThanInteger(integer(0x3f), first), lessThanInteger(first, integer(0x58))),
      ),
      lessThanInteger(indexByteString(cbor, skip(cbor, integer(1), name)), bound),
    )
  })

/** Whether the item at a place is lovelace, or lovelace and assets. */
const isValue = (cbor: Bytes, value: Int, asset: AssetTerms): Bool =>
  scope(function* () {
    const first = yield* bind(indexByteString(cbor, value))
    return choose(
      isArray(first),
      scope(function* () {
        const lovelace = yield* bind(elementAt(cbor, value, integer(0)))
        const assets = yield* bind(elementAt(cbor, value, integer(1)))
        return every(
          isThere(assets),
          isUint(indexByteString(cbor, lovelace)),
          areAssets(cbor, assets, asset, 0x20),
        )
      }),
      isUint(first),
    )
  })

/**
 * Whether the item at a place is an output: an array of address and value, or a map that has both under 0
 * and 1 and no key from 4 on. Of the value, one asset is read.
 */
export const isOutput = (cbor: Bytes, place: Int, asset: AssetTerms): Bool =>
  scope(function* () {
    const output = yield* bind(place)
    const first = yield* bind(indexByteString(cbor, output))
    const hasBoth = (address: Int, value: Int): Bool =>
      scope(function* () {
        const one = yield* bind(address)
        const other = yield* bind(value)
        return every(
          isThere(one),
          isThere(other),
          isString(indexByteString(cbor, one)),
          isValue(cbor, other, asset),
        )
      })
    return choose(
      isMap(first),
      both(
        equalsInteger(
          countIn(cbor, output, (key) => lessThanInteger(integer(3), indexByteString(cbor, key))),
          integer(0),
        ),
        hasBoth(fieldUnder(cbor, output, integer(0)), fieldUnder(cbor, output, integer(1))),
      ),
      both(isArray(first), hasBoth(elementAt(cbor, output, integer(0)), elementAt(cbor, output, integer(1)))),
    )
  })
