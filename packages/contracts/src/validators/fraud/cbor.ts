import type { PBool, PByteString, PInt, PLam, PType, Term } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  byteStringToInteger,
  bytes as constant,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanEqualsInteger,
  lessThanInteger,
  modInteger,
  sliceByteString,
  subtractInteger,
} from '../core/builtins.js'
import { both } from '../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  defineOf,
  fixed,
  hoisted,
  type Int,
  lambda,
  recursive,
  scope,
} from '../core/term.js'

/*
 * A reader of CBOR (RFC 8949) for transactions that the ledger's decoder accepts: it finds the same items at
 * the same places, also of indefinite length. It need not refuse what the decoder refuses: no honest block
 * holds such a transaction.
 *
 * It does not read every encoding. Keys of maps, tags and output references must be in their shortest form,
 * and references definite; otherwise it fails, and so does the fraud proof.
 */

/** The place of something that is not there. */
export const nowhere = -1

/** The break that ends an item of indefinite length. */
const breakByte = 0xff

/**
 * By first byte: the length of an item that needs no more to tell its length (1–24), {@link container} and
 * the number of items in an array, a map or a tag, or {@link longHead}.
 */
const container = 128
const longHead = 255

const kindByFirstByte = Uint8Array.from({ length: 256 }, (_, first) => {
  const [major, info] = [first >> 5, first & 31]
  if (major === 0 || major === 1 || major === 7) {
    if (info < 24) return 1
    return info < 28 ? 1 + 2 ** (info - 24) : longHead
  }
  if (info > 23) return longHead
  if (major === 2 || major === 3) return 1 + info
  if (major === 6) return container + 1
  return container + info * (major === 5 ? 2 : 1)
})

/** The number of bytes of an argument, by additional information 24–27; fails for any other. */
export const argumentSize = (info: Int): Int =>
  indexByteString(constant(Uint8Array.of(1, 2, 4, 8)), subtractInteger(info, integer(24)))

type Skip = PLam<PInt, PLam<PInt, PInt>>

/** Bytes → count → place: the place behind so many items. */
const skipIn = hoisted(
  lambda<PByteString, Skip>((cbor) =>
    fixed<PInt, PLam<PInt, PInt>>((self, count) =>
      lambda((place) =>
        choose(
          equalsInteger(count, integer(0)),
          place,
          scope(function* () {
            const first = yield* bind(indexByteString(cbor, place))
            const kind = yield* bind(indexByteString(constant(kindByFirstByte), first))
            const left = subtractInteger(count, integer(1))
            return choose(
              lessThanInteger(kind, integer(container)),
              call<PInt>(self(left), addInteger(place, kind)),
              choose(
                lessThanInteger(kind, integer(longHead)),
                call<PInt>(
                  self(addInteger(left, subtractInteger(kind, integer(container)))),
                  addInteger(place, integer(1)),
                ),
                skipLongHead(cbor, self, left, place, first),
              ),
            )
          }),
        ),
      ),
    ),
  ),
)

/** Goes on behind a head whose argument follows it, or behind an item of indefinite length. */
const skipLongHead = (
  cbor: Bytes,
  self: (count: Int) => Term<PLam<PInt, PInt>>,
  left: Int,
  place: Int,
  first: Int,
): Int =>
  scope(function* () {
    const info = yield* bind(modInteger(first, integer(32)))
    const next = yield* bind(addInteger(place, integer(1)))
    return choose(
      equalsInteger(info, integer(31)),
      choose(
        both(lessThanInteger(integer(0x5e), first), lessThanInteger(first, integer(0xc0))),
        call<PInt>(self(left), behindBreak(cbor, self, next)),
        fail(),
      ),
      scope(function* () {
        const size = yield* bind(argumentSize(info))
        const argument = yield* bind(byteStringToInteger(sliceByteString(next, size, cbor)))
        const behind = yield* bind(addInteger(next, size))
        return choose(
          lessThanInteger(first, integer(0x80)),
          call<PInt>(self(left), addInteger(behind, argument)),
          call<PInt>(
            self(
              addInteger(
                left,
                choose(
                  lessThanInteger(first, integer(0xa0)),
                  argument,
                  choose(lessThanInteger(first, integer(0xc0)), addInteger(argument, argument), integer(1)),
                ),
              ),
            ),
            behind,
          ),
        )
      }),
    )
  })

const behindBreak = (cbor: Bytes, self: (count: Int) => Term<PLam<PInt, PInt>>, place: Int): Int =>
  recursive<PInt, PInt>((until, here) =>
    choose(
      equalsInteger(indexByteString(cbor, here), integer(breakByte)),
      addInteger(here, integer(1)),
      until(call<PInt>(self(integer(1)), here)),
    ),
  )(place)

/** The place behind `count` items. */
export const skip = (cbor: Bytes, count: Int, place: Int): Int =>
  call<PInt>(call<Skip>(skipIn, cbor), count, place)

/** The bytes of the item at a place. */
export const itemBytes = defineOf<[PByteString, PInt], PByteString>(2, (cbor, place) =>
  sliceByteString(place, subtractInteger(skip(cbor, integer(1), place), place), cbor),
)

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
  withHead(cbor, place, (length, start) => sliceByteString(start, length, cbor)),
)

/** The argument of the head at a place: the value of an unsigned integer. */
export const argumentAt = defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  withHead(cbor, place, (argument) => argument),
)

/**
 * Where the value of a field of a map is, by its key under 24; {@link nowhere} if the map lacks it. Fails at
 * longer keys.
 */
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

/**
 * {@link nowhere} at the break of an item of indefinite length, of which `left` is negative; fails elsewhere.
 */
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

/**
 * Whether no item is left; `left` is negative in a container of indefinite length, which ends at its break.
 */
export const isEnd = (cbor: Bytes, left: Int, place: Int): Bool =>
  choose(
    lessThanInteger(left, integer(0)),
    equalsInteger(indexByteString(cbor, place), integer(breakByte)),
    equalsInteger(left, integer(0)),
  )

const count = defineOf<[PByteString, PInt, PLam<PInt, PBool>], PInt>(3, (cbor, collection, condition) =>
  choose(
    lessThanInteger(collection, integer(0)),
    integer(0),
    scope(function* () {
      const behind = yield* bind(call<Skip>(skipIn, cbor))
      const place = yield* bind(untagged(cbor, collection))
      const first = yield* bind(indexByteString(cbor, place))
      const stride = yield* bind(choose(isArray(first), integer(1), choose(isMap(first), integer(2), fail())))
      return withHead(cbor, place, (size, start) =>
        call<PInt>(
          recursive<PInt, PLam<PInt, PInt>>((self, left) =>
            lambda((here) =>
              choose(
                isEnd(cbor, left, here),
                integer(0),
                addInteger(
                  choose(call<PBool>(condition, here), integer(1), integer(0)),
                  call<PInt>(self(subtractInteger(left, integer(1))), call<PInt>(behind, stride, here)),
                ),
              ),
            ),
          )(size),
          start,
        ),
      )
    }),
  ),
)

/**
 * How many items of an array, or keys of a map, satisfy a condition on their place. Of {@link nowhere}, none.
 */
export const countIn = (cbor: Bytes, collection: Int, condition: (place: Int) => Bool): Int =>
  count(cbor, collection, lambda<PInt, PBool>(condition))

/**
 * Where the item of an array is, by its index from 0; {@link nowhere} behind the last, and before the first.
 */
export const elementAt = defineOf<[PByteString, PInt, PInt], PInt>(3, (cbor, array, index) =>
  scope(function* () {
    const behind = yield* bind(call<Skip>(skipIn, cbor))
    return withArray(cbor, array, (count, first) =>
      choose(
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
                  call<PInt>(self(subtractInteger(left, integer(1))), call<PInt>(behind, integer(1), place)),
                ),
              ),
            ),
          )(index),
          first,
        ),
        choose(
          both(lessThanInteger(integer(-1), index), lessThanInteger(index, count)),
          call<PInt>(behind, index, first),
          integer(nowhere),
        ),
      ),
    )
  }),
)
