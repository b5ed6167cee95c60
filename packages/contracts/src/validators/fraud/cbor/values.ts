import type { PByteString, PInt, PLam } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  equalsByteString,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanInteger,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import { both } from '../../core/data.js'
import {
  type Bytes,
  bind,
  call,
  choose,
  defineOf,
  fixed,
  type Int,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import { isEmpty } from '../records.js'
import { argumentAt, fieldAt, isArray, isEnd, isMap, withArray, withMap } from './read.js'
import { isThere } from './references.js'
import { nowhere, shortString, skip } from './skip.js'

/*
 * Outputs and values, in both forms that the ledger has of each. Policies and asset names are compared as
 * they are encoded, so that any other encoding than the shortest one fails.
 */

/** The fields of an output in its map form, by their key in the CDDL. */
const OutputField = { address: 0, value: 1, referenceScript: 3 } as const

export const addressAt = (cbor: Bytes, output: Int): Int =>
  partAt(cbor, output, OutputField.address, (first) => first)

/** Where the value of an output is. In the common forms, it follows the address without a search. */
export const valueAt = defineOf<[PByteString, PInt], PInt>(2, (cbor, output) =>
  choose(
    isMap(indexByteString(cbor, output)),
    scope(function* () {
      const addressKey = addInteger(output, integer(1))
      const key = yield* bind(
        choose(
          equalsInteger(indexByteString(cbor, addressKey), integer(OutputField.address)),
          behindString(cbor, addInteger(output, integer(2))),
          addressKey,
        ),
      )
      return choose(
        equalsInteger(indexByteString(cbor, key), integer(OutputField.value)),
        addInteger(key, integer(1)),
        fieldAt(cbor, output, OutputField.value),
      )
    }),
    withArray(cbor, output, (_count, first) => behindString(cbor, first)),
  ),
)

/** The place behind an item, which is mostly a string of 24 to 255 bytes. */
const behindString = (cbor: Bytes, place: Int): Int =>
  scope(function* () {
    const start = yield* bind(place)
    return choose(
      equalsInteger(indexByteString(cbor, start), integer(shortString)),
      addInteger(addInteger(start, integer(2)), indexByteString(cbor, addInteger(start, integer(1)))),
      skip(cbor, integer(1), start),
    )
  })

/** Where the reference script of an output is: tag 24 and a byte string; {@link nowhere} without one. */
export const referenceScriptAt = (cbor: Bytes, output: Int): Int =>
  partAt(cbor, output, OutputField.referenceScript, () => integer(nowhere))

const partAt = (cbor: Bytes, output: Int, field: number, inArray: (first: Int) => Int): Int =>
  scope(function* () {
    const place = yield* bind(output)
    return choose(
      isMap(indexByteString(cbor, place)),
      fieldAt(cbor, place, field),
      withArray(cbor, place, (_count, first) => inArray(first)),
    )
  })

export const lovelaceAt = defineOf<[PByteString, PInt], PInt>(2, (cbor, value) =>
  choose(
    isArray(indexByteString(cbor, value)),
    withArray(cbor, value, (_count, first) => argumentAt(cbor, first)),
    argumentAt(cbor, value),
  ),
)

/** The quantity of an asset in the value at a place: policy and name as CBOR; an empty policy for ada. */
export const quantityIn = defineOf<[PByteString, PByteString, PByteString, PInt], PInt>(
  4,
  (policy, name, cbor, value) =>
    choose(
      isEmpty(policy),
      lovelaceAt(cbor, value),
      choose(
        isArray(indexByteString(cbor, value)),
        withArray(cbor, value, (_count, first) =>
          quantityOf(policy, name, cbor, skip(cbor, integer(1), first)),
        ),
        integer(0),
      ),
    ),
)

/** The quantity of an asset in a map of policies to maps of names to quantities: negative where burned. */
export const quantityOf = (policy: Bytes, name: Bytes, cbor: Bytes, assets: Int): Int =>
  scope(function* () {
    const names = yield* bind(valueUnder(cbor, assets, policy))
    const quantity = yield* bind(choose(isThere(names), valueUnder(cbor, names, name), integer(nowhere)))
    return choose(
      isThere(quantity),
      scope(function* () {
        const argument = yield* bind(argumentAt(cbor, quantity))
        return choose(
          lessThanInteger(indexByteString(cbor, quantity), integer(0x20)),
          argument,
          subtractInteger(integer(-1), argument),
        )
      }),
      integer(0),
    )
  })

/** The place of the value under a key of up to 255 bytes; {@link nowhere} without the key. */
const valueUnder = defineOf<[PByteString, PInt, PByteString], PInt>(3, (cbor, map, key) =>
  withMap(cbor, map, (count, first) =>
    call<PInt>(
      fixed<PInt, PLam<PInt, PInt>>((self, left) =>
        lambda((place) =>
          choose(
            isEnd(cbor, left, place),
            integer(nowhere),
            scope(function* () {
              const length = yield* bind(shortStringLength(cbor, place))
              const behind = yield* bind(addInteger(place, length))
              return choose(
                equalsByteString(sliceByteString(place, length, cbor), key),
                behind,
                call<PInt>(self(subtractInteger(left, integer(1))), skip(cbor, integer(1), behind)),
              )
            }),
          ),
        ),
      ),
      count,
      first,
    ),
  ),
)

/** The length of a byte string with its shortest head; fails for any other item, and over 255 bytes. */
const shortStringLength = (cbor: Bytes, place: Int): Int =>
  scope(function* () {
    const first = yield* bind(indexByteString(cbor, place))
    return choose(
      both(lessThanInteger(integer(0x3f), first), lessThanInteger(first, integer(0x58))),
      subtractInteger(first, integer(0x3f)),
      choose(
        equalsInteger(first, integer(0x58)),
        scope(function* () {
          const length = yield* bind(indexByteString(cbor, addInteger(place, integer(1))))
          return choose(lessThanInteger(integer(23), length), addInteger(length, integer(2)), fail())
        }),
        fail(),
      ),
    )
  })

export const sumOver = (cbor: Bytes, array: Int, each: (place: Int) => Int): Int =>
  withArray(cbor, array, (count, first) =>
    call<PInt>(
      recursive<PInt, PLam<PInt, PInt>>((self, left) =>
        lambda((place) =>
          choose(
            isEnd(cbor, left, place),
            integer(0),
            addInteger(
              each(place),
              call<PInt>(self(subtractInteger(left, integer(1))), skip(cbor, integer(1), place)),
            ),
          ),
        ),
      )(count),
      first,
    ),
  )
