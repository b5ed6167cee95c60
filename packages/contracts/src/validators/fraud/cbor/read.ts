import type { PBool, PByteString, PInt, PLam, PType, Term } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  byteStringToInteger,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  modInteger,
  multiplyInteger,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import { both } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  defineOf,
  fixed,
  type Int,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import { argumentSize, breakByte, nowhere, type Skip, shortString, skipIn } from './skip.js'

/*
 * A reader of CBOR (RFC 8949) for transactions that the ledger's decoder accepts: it finds the same items at
 * the same places, also of indefinite length. It need not refuse what the decoder refuses: no honest block
 * holds such a transaction.
 *
 * It does not read every encoding. Keys of maps, tags and output references must be in their shortest form,
 * and references definite; otherwise it fails, and so does the fraud proof.
 */

const head = defineOf<[PByteString, PInt, PLam<PInt, PLam<PInt, PType>>], PType>(3, (cbor, place, then) =>
  scope(function* () {
    const info = yield* bind(modInteger(indexByteString(cbor, place), integer(32)))
    const next = yield* bind(addInteger(place, integer(1)))
    return choose(
      lessThanInteger(info, integer(24)),
      call(then, info, next),
      choose(
        equalsInteger(info, integer(31)),
        call(then, integer(-1), next),
        scope(function* () {
          const size = yield* bind(argumentSize(info))
          return call(then, byteStringToInteger(sliceByteString(next, size, cbor)), addInteger(next, size))
        }),
      ),
    )
  }),
)

/** Reads the head of an item: its argument, −1 for indefinite length, and the place behind the head. */
export const withHead = <T extends PType>(
  cbor: Bytes,
  place: Int,
  then: (argument: Int, next: Int) => Term<T>,
): Term<T> =>
  head(
    cbor,
    place,
    lambda((argument: Int) => lambda((next: Int) => then(argument, next))) as Term<PType> as Term<
      PLam<PInt, PLam<PInt, PType>>
    >,
  ) as Term<T>

/** The content of the byte string at a place, which has a definite length. */
export const stringAt = defineOf<[PByteString, PInt], PByteString>(2, (cbor, place) =>
  choose(
    equalsInteger(indexByteString(cbor, place), integer(shortString)),
    sliceByteString(
      addInteger(place, integer(2)),
      indexByteString(cbor, addInteger(place, integer(1))),
      cbor,
    ),
    withHead(cbor, place, (length, start) => sliceByteString(start, length, cbor)),
  ),
)

/** The argument of the head at a place: the value of an unsigned integer. */
export const argumentAt = defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  withHead(cbor, place, (argument) => argument),
)

/** The place of a field's value in a map, by a key under 24; else {@link nowhere}. Fails at longer keys. */
export const fieldAt = (cbor: Bytes, map: Int, key: number): Int => fieldUnder(cbor, map, integer(key))

/** {@link fieldAt} for a key that a proof names. */
export const fieldUnder = defineOf<[PByteString, PInt, PInt], PInt>(3, (cbor, map, key) =>
  scope(function* () {
    const behind = yield* bind(call<Skip>(skipIn, cbor))
    const find = yield* bind(
      fixed<PInt, PLam<PInt, PInt>>((self, left) =>
        lambda((place) =>
          choose(
            equalsInteger(left, integer(0)),
            integer(nowhere),
            scope(function* () {
              const found = yield* bind(indexByteString(cbor, place))
              return choose(
                equalsInteger(found, key),
                addInteger(place, integer(1)),
                choose(
                  lessThanInteger(found, integer(24)),
                  call<PInt>(self(subtractInteger(left, integer(1))), call<PInt>(behind, integer(2), place)),
                  atBreak(left, found),
                ),
              )
            }),
          ),
        ),
      ),
    )
    return withMap(cbor, map, (count, first) => call<PInt>(find, count, first))
  }),
)

/** {@link nowhere} at the break of an item of indefinite length (`left` negative); fails elsewhere. */
const atBreak = (left: Int, byte: Int): Int =>
  choose(
    both(equalsInteger(byte, integer(breakByte)), lessThanInteger(left, integer(0))),
    integer(nowhere),
    fail(),
  )

/** Whether the item with this first byte is a map. */
export const isMap = define<PInt, PBool>((first) =>
  both(lessThanEqualsInteger(integer(0xa0), first), lessThanInteger(first, integer(0xc0))),
)

/** {@link withHead} of a map; fails at any other item. */
export const withMap = <T extends PType>(
  cbor: Bytes,
  map: Int,
  then: (count: Int, first: Int) => Term<T>,
): Term<T> =>
  scope(function* () {
    const place = yield* bind(map)
    return choose(isMap(indexByteString(cbor, place)), withHead(cbor, place, then), fail())
  })

/** The place behind tag 258, which may be before a set; the place itself without a tag. */
export const untagged = defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  choose(equalsInteger(indexByteString(cbor, place), integer(0xd9)), addInteger(place, integer(3)), place),
)

/** Whether the item with this first byte is an array. */
export const isArray = define<PInt, PBool>((first) =>
  both(lessThanEqualsInteger(integer(0x80), first), lessThanInteger(first, integer(0xa0))),
)

/** Whether the item with this first byte is a byte string of definite length. */
export const isString = define<PInt, PBool>((first) =>
  both(lessThanInteger(integer(0x3f), first), lessThanInteger(first, integer(0x5f))),
)

/** {@link withHead} of an array; fails at any other item. */
export const withArray = <T extends PType>(
  cbor: Bytes,
  array: Int,
  then: (count: Int, first: Int) => Term<T>,
): Term<T> =>
  scope(function* () {
    const place = yield* bind(array)
    return choose(isArray(indexByteString(cbor, place)), withHead(cbor, place, then), fail())
  })

/** Whether no item is left; of indefinite length (`left` negative), whether the break is here. */
export const isEnd = (cbor: Bytes, left: Int, place: Int): Bool =>
  choose(
    lessThanInteger(left, integer(0)),
    equalsInteger(indexByteString(cbor, place), integer(breakByte)),
    equalsInteger(left, integer(0)),
  )

const count = defineOf<[PByteString, PInt, PLam<PInt, PLam<PInt, PBool>>], PInt>(
  3,
  (cbor, collection, condition) =>
    choose(
      lessThanInteger(collection, integer(0)),
      integer(0),
      scope(function* () {
        const behind = yield* bind(call<Skip>(skipIn, cbor))
        const place = yield* bind(untagged(cbor, collection))
        const first = yield* bind(indexByteString(cbor, place))
        const stride = yield* bind(
          choose(isArray(first), integer(1), choose(isMap(first), integer(2), fail())),
        )
        return withHead(cbor, place, (size, start) =>
          call<PInt>(
            recursive<PInt, PLam<PInt, PInt>>((self, left) =>
              lambda((here) =>
                choose(
                  isEnd(cbor, left, here),
                  integer(0),
                  scope(function* () {
                    const next = yield* bind(call<PInt>(behind, stride, here))
                    return addInteger(
                      choose(call<PBool>(condition, here, next), integer(1), integer(0)),
                      call<PInt>(self(subtractInteger(left, integer(1))), next),
                    )
                  }),
                ),
              ),
            )(size),
            start,
          ),
        )
      }),
    ),
)

/** The number of items, or map entries, that satisfy a condition on their place and end. */
export const countIn = (cbor: Bytes, collection: Int, condition: (place: Int, behind: Int) => Bool): Int =>
  count(
    cbor,
    collection,
    lambda<PInt, PLam<PInt, PBool>>((place) => lambda<PInt, PBool>((behind) => condition(place, behind))),
  )

/** Where one of so many items from a place on is, by its index in steps; {@link nowhere} if there is none. */
export const placeAt = defineOf<[PByteString, PInt, PInt, PInt, PInt], PInt>(
  5,
  (cbor, count, first, stride, index) =>
    scope(function* () {
      const behind = yield* bind(call<Skip>(skipIn, cbor))
      return choose(
        lessThanInteger(count, integer(0)),
        call<PInt>(
          recursive<PInt, PLam<PInt, PInt>>((self, left) =>
            lambda((place) =>
              choose(
                equalsInteger(indexByteString(cbor, place), integer(breakByte)),
                integer(nowhere),
                choose(
                  equalsInteger(left, integer(0)),
                  place,
                  call<PInt>(self(subtractInteger(left, integer(1))), call<PInt>(behind, stride, place)),
                ),
              ),
            ),
          )(index),
          first,
        ),
        choose(
          both(lessThanInteger(integer(-1), index), lessThanInteger(index, count)),
          call<PInt>(behind, multiplyInteger(stride, index), first),
          integer(nowhere),
        ),
      )
    }),
)

/** The place of an array's item, by index from 0; {@link nowhere} behind the last, and before the first. */
export const elementAt = defineOf<[PByteString, PInt, PInt], PInt>(3, (cbor, array, index) =>
  withArray(cbor, array, (count, first) => placeAt(cbor, count, first, integer(1), index)),
)

/** Where the key of an entry of a map is, by its index, as {@link elementAt}. */
export const keyAt = (cbor: Bytes, map: Int, index: Int): Int =>
  withMap(cbor, map, (count, first) => placeAt(cbor, count, first, integer(2), index))
