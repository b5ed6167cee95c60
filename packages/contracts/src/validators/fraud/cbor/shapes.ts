import type { PBool, PByteString, PInt } from '@harmoniclabs/plu-ts'
import { both, branch, either, every } from '../../core/data.js'
import * as p from '../../core/term.js'
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

const isUint = (first: p.Int): p.Bool => p.lessThanInteger(first, p.integer(0x20))

/**
 * Whether a body is not a map, has an unknown, repeated or mistyped field, or lacks a required one.
 * @param key the first byte of the field's key
 * @param asset that is read of a mint
 */
export const isStrangeBody = (cbor: p.Bytes, key: p.Int, asset: AssetTerms): p.Bool =>
  isStrange(cbor, key, asset, body, neededFields)

/** The same of a witness set, which needs no fields. */
export const isStrangeWitnessSet = (cbor: p.Bytes, key: p.Int): p.Bool =>
  isStrange(cbor, key, { policy: p.integer(0), name: p.integer(0) }, witnessSet, 0)

const isStrange = (cbor: p.Bytes, key: p.Int, asset: AssetTerms, types: Uint8Array, needed: number): p.Bool =>
  isStrangeAmong(
    cbor,
    key,
    asset.policy,
    asset.name,
    p.bytes(types),
    p.integer(types.length),
    p.integer(needed),
  )

const isStrangeAmong = p.defineOf<[PByteString, PInt, PInt, PInt, PByteString, PInt, PInt], PBool>(
  7,
  (cbor, key, policy, name, types, known, needed) =>
    p.choose(
      isMap(p.indexByteString(cbor, p.integer(0))),
      p.scope(function* () {
        const count = yield* p.bind(
          countIn(cbor, p.integer(0), (place) => p.equalsInteger(p.indexByteString(cbor, place), key)),
        )
        return p.choose(
          p.equalsInteger(count, p.integer(1)),
          p.choose(
            p.lessThanInteger(key, known),
            isOfOtherType(cbor, key, { policy, name }, types),
            p.boolean(true),
          ),
          either(
            p.lessThanInteger(p.integer(1), count),
            both(p.lessThanInteger(p.integer(-1), key), p.lessThanInteger(key, needed)),
          ),
        )
      }),
      p.boolean(true),
    ),
)

const isOfOtherType = (cbor: p.Bytes, key: p.Int, asset: AssetTerms, types: p.Bytes): p.Bool =>
  p.scope(function* () {
    const place = yield* p.bind(fieldUnder(cbor, p.integer(0), key))
    const first = yield* p.bind(p.indexByteString(cbor, place))
    const is = (condition: p.Bool): p.Bool => p.choose(condition, p.boolean(false), p.boolean(true))
    return branch(
      p.indexByteString(types, key),
      [type.any, p.boolean(false)],
      [type.number, is(isUint(first))],
      [type.array, is(isArray(first))],
      [type.set, is(isArray(p.indexByteString(cbor, untagged(cbor, place))))],
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
const areAssets = (cbor: p.Bytes, assets: p.Int, asset: AssetTerms, bound: number): p.Bool =>
  hasAsset(cbor, assets, asset.policy, asset.name, p.integer(bound))

/** The place of an asset in a value or a mint. */
export interface AssetTerms {
  readonly policy: p.Int
  readonly name: p.Int
}

const hasAsset = p.defineOf<[PByteString, PInt, PInt, PInt, PInt], PBool>(
  5,
  (cbor, assets, policyIndex, nameIndex, bound) =>
    both(
      isMap(p.indexByteString(cbor, assets)),
      p.scope(function* () {
        const policy = yield* p.bind(keyAt(cbor, assets, policyIndex))
        return p.choose(
          isThere(policy),
          p.scope(function* () {
            const names = yield* p.bind(p.addInteger(policy, p.integer(policyLength)))
            return every(
              p.equalsByteString(
                p.sliceByteString(policy, p.integer(policyHead.length), cbor),
                p.bytes(policyHead),
              ),
              isMap(p.indexByteString(cbor, names)),
              p.scope(function* () {
                const name = yield* p.bind(keyAt(cbor, names, nameIndex))
                return p.choose(isThere(name), isNameWithQuantity(cbor, name, bound), p.boolean(true))
              }),
            )
          }),
          p.boolean(true),
        )
      }),
    ),
)

/** Whether there is a name of at most 32 bytes with a quantity. */
const isNameWithQuantity = (cbor: p.Bytes, name: p.Int, bound: p.Int): p.Bool =>
  p.scope(function* () {
    const first = yield* p.bind(p.indexByteString(cbor, name))
    return both(
      p.choose(
        p.equalsInteger(first, p.integer(0x58)),
        p.lessThanInteger(p.indexByteString(cbor, p.addInteger(name, p.integer(1))), p.integer(33)),
        both(p.lessThanInteger(p.integer(0x3f), first), p.lessThanInteger(first, p.integer(0x58))),
      ),
      p.lessThanInteger(p.indexByteString(cbor, skip(cbor, p.integer(1), name)), bound),
    )
  })

/** Whether the item at a place is lovelace, or lovelace and assets. */
const isValue = (cbor: p.Bytes, value: p.Int, asset: AssetTerms): p.Bool =>
  p.scope(function* () {
    const first = yield* p.bind(p.indexByteString(cbor, value))
    return p.choose(
      isArray(first),
      p.scope(function* () {
        const lovelace = yield* p.bind(elementAt(cbor, value, p.integer(0)))
        const assets = yield* p.bind(elementAt(cbor, value, p.integer(1)))
        return every(
          isThere(assets),
          isUint(p.indexByteString(cbor, lovelace)),
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
export const isOutput = (cbor: p.Bytes, place: p.Int, asset: AssetTerms): p.Bool =>
  p.scope(function* () {
    const output = yield* p.bind(place)
    const first = yield* p.bind(p.indexByteString(cbor, output))
    const hasBoth = (address: p.Int, value: p.Int): p.Bool =>
      p.scope(function* () {
        const one = yield* p.bind(address)
        const other = yield* p.bind(value)
        return every(
          isThere(one),
          isThere(other),
          isString(p.indexByteString(cbor, one)),
          isValue(cbor, other, asset),
        )
      })
    return p.choose(
      isMap(first),
      both(
        p.equalsInteger(
          countIn(cbor, output, (key) => p.lessThanInteger(p.integer(3), p.indexByteString(cbor, key))),
          p.integer(0),
        ),
        hasBoth(fieldUnder(cbor, output, p.integer(0)), fieldUnder(cbor, output, p.integer(1))),
      ),
      both(
        isArray(first),
        hasBoth(elementAt(cbor, output, p.integer(0)), elementAt(cbor, output, p.integer(1))),
      ),
    )
  })
