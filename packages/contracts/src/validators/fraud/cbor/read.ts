import type { PBool, PByteString, PInt, PLam, PType, Term } from '@harmoniclabs/plu-ts'
import { both } from '../../core/data.js'
import * as p from '../../core/term.js'
import { argumentSize, breakByte, nowhere, type Skip, shortString, skipIn } from './skip.js'

/*
 * A reader of CBOR (RFC 8949) for transactions that the ledger's decoder accepts: it finds the same items at
 * the same places, also of indefinite length. It need not refuse what the decoder refuses: no honest block
 * holds such a transaction.
 *
 * It does not read every encoding. Keys of maps, tags and output references must be in their shortest form,
 * and references definite; otherwise it fails, and so does the fraud proof.
 */

const head = p.defineOf<[PByteString, PInt, PLam<PInt, PLam<PInt, PType>>], PType>(3, (cbor, place, then) =>
  p.scope(function* () {
    const info = yield* p.bind(p.modInteger(p.indexByteString(cbor, place), p.integer(32)))
    const next = yield* p.bind(p.addInteger(place, p.integer(1)))
    return p.choose(
      p.lessThanInteger(info, p.integer(24)),
      p.call(then, info, next),
      p.choose(
        p.equalsInteger(info, p.integer(31)),
        p.call(then, p.integer(-1), next),
        p.scope(function* () {
          const size = yield* p.bind(argumentSize(info))
          return p.call(
            then,
            p.byteStringToInteger(p.sliceByteString(next, size, cbor)),
            p.addInteger(next, size),
          )
        }),
      ),
    )
  }),
)

/** Reads the head of an item: its argument, −1 for indefinite length, and the place behind the head. */
export const withHead = <T extends PType>(
  cbor: p.Bytes,
  place: p.Int,
  then: (argument: p.Int, next: p.Int) => Term<T>,
): Term<T> =>
  head(
    cbor,
    place,
    p.lambda((argument: p.Int) => p.lambda((next: p.Int) => then(argument, next))) as Term<PType> as Term<
      PLam<PInt, PLam<PInt, PType>>
    >,
  ) as Term<T>

/** The content of the byte string at a place, which has a definite length. */
export const stringAt = p.defineOf<[PByteString, PInt], PByteString>(2, (cbor, place) =>
  p.choose(
    p.equalsInteger(p.indexByteString(cbor, place), p.integer(shortString)),
    p.sliceByteString(
      p.addInteger(place, p.integer(2)),
      p.indexByteString(cbor, p.addInteger(place, p.integer(1))),
      cbor,
    ),
    withHead(cbor, place, (length, start) => p.sliceByteString(start, length, cbor)),
  ),
)

/** The argument of the head at a place: the value of an unsigned integer. */
export const argumentAt = p.defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  withHead(cbor, place, (argument) => argument),
)

/** The place of a field's value in a map, by a key under 24; else {@link nowhere}. Fails at longer keys. */
export const fieldAt = (cbor: p.Bytes, map: p.Int, key: number): p.Int =>
  fieldUnder(cbor, map, p.integer(key))

/** {@link fieldAt} for a key that a proof names. */
export const fieldUnder = p.defineOf<[PByteString, PInt, PInt], PInt>(3, (cbor, map, key) =>
  p.scope(function* () {
    const behind = yield* p.bind(p.call<Skip>(skipIn, cbor))
    const find = yield* p.bind(
      p.fixed<PInt, PLam<PInt, PInt>>((self, left) =>
        p.lambda((place) =>
          p.choose(
            p.equalsInteger(left, p.integer(0)),
            p.integer(nowhere),
            p.scope(function* () {
              const found = yield* p.bind(p.indexByteString(cbor, place))
              return p.choose(
                p.equalsInteger(found, key),
                p.addInteger(place, p.integer(1)),
                p.choose(
                  p.lessThanInteger(found, p.integer(24)),
                  p.call<PInt>(
                    self(p.subtractInteger(left, p.integer(1))),
                    p.call<PInt>(behind, p.integer(2), place),
                  ),
                  atBreak(left, found),
                ),
              )
            }),
          ),
        ),
      ),
    )
    return withMap(cbor, map, (count, first) => p.call<PInt>(find, count, first))
  }),
)

/** {@link nowhere} at the break of an item of indefinite length (`left` negative); fails elsewhere. */
const atBreak = (left: p.Int, byte: p.Int): p.Int =>
  p.choose(
    both(p.equalsInteger(byte, p.integer(breakByte)), p.lessThanInteger(left, p.integer(0))),
    p.integer(nowhere),
    p.fail(),
  )

/** Whether the item with this first byte is a map. */
export const isMap = p.define<PInt, PBool>((first) =>
  both(p.lessThanEqualsInteger(p.integer(0xa0), first), p.lessThanInteger(first, p.integer(0xc0))),
)

/** {@link withHead} of a map; fails at any other item. */
export const withMap = <T extends PType>(
  cbor: p.Bytes,
  map: p.Int,
  then: (count: p.Int, first: p.Int) => Term<T>,
): Term<T> =>
  p.scope(function* () {
    const place = yield* p.bind(map)
    return p.choose(isMap(p.indexByteString(cbor, place)), withHead(cbor, place, then), p.fail())
  })

/** The place behind tag 258, which may be before a set; the place itself without a tag. */
export const untagged = p.defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  p.choose(
    p.equalsInteger(p.indexByteString(cbor, place), p.integer(0xd9)),
    p.addInteger(place, p.integer(3)),
    place,
  ),
)

/** Whether the item with this first byte is an array. */
export const isArray = p.define<PInt, PBool>((first) =>
  both(p.lessThanEqualsInteger(p.integer(0x80), first), p.lessThanInteger(first, p.integer(0xa0))),
)

/** Whether the item with this first byte is a byte string of definite length. */
export const isString = p.define<PInt, PBool>((first) =>
  both(p.lessThanInteger(p.integer(0x3f), first), p.lessThanInteger(first, p.integer(0x5f))),
)

/** {@link withHead} of an array; fails at any other item. */
export const withArray = <T extends PType>(
  cbor: p.Bytes,
  array: p.Int,
  then: (count: p.Int, first: p.Int) => Term<T>,
): Term<T> =>
  p.scope(function* () {
    const place = yield* p.bind(array)
    return p.choose(isArray(p.indexByteString(cbor, place)), withHead(cbor, place, then), p.fail())
  })

/** Whether no item is left; of indefinite length (`left` negative), whether the break is here. */
export const isEnd = (cbor: p.Bytes, left: p.Int, place: p.Int): p.Bool =>
  p.choose(
    p.lessThanInteger(left, p.integer(0)),
    p.equalsInteger(p.indexByteString(cbor, place), p.integer(breakByte)),
    p.equalsInteger(left, p.integer(0)),
  )

const count = p.defineOf<[PByteString, PInt, PLam<PInt, PLam<PInt, PBool>>], PInt>(
  3,
  (cbor, collection, condition) =>
    p.choose(
      p.lessThanInteger(collection, p.integer(0)),
      p.integer(0),
      p.scope(function* () {
        const behind = yield* p.bind(p.call<Skip>(skipIn, cbor))
        const place = yield* p.bind(untagged(cbor, collection))
        const first = yield* p.bind(p.indexByteString(cbor, place))
        const stride = yield* p.bind(
          p.choose(isArray(first), p.integer(1), p.choose(isMap(first), p.integer(2), p.fail())),
        )
        return withHead(cbor, place, (size, start) =>
          p.call<PInt>(
            p.recursive<PInt, PLam<PInt, PInt>>((self, left) =>
              p.lambda((here) =>
                p.choose(
                  isEnd(cbor, left, here),
                  p.integer(0),
                  p.scope(function* () {
                    const next = yield* p.bind(p.call<PInt>(behind, stride, here))
                    return p.addInteger(
                      p.choose(p.call<PBool>(condition, here, next), p.integer(1), p.integer(0)),
                      p.call<PInt>(self(p.subtractInteger(left, p.integer(1))), next),
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
export const countIn = (
  cbor: p.Bytes,
  collection: p.Int,
  condition: (place: p.Int, behind: p.Int) => p.Bool,
): p.Int =>
  count(
    cbor,
    collection,
    p.lambda<PInt, PLam<PInt, PBool>>((place) => p.lambda<PInt, PBool>((behind) => condition(place, behind))),
  )

/** Where one of so many items from a place on is, by its index in steps; {@link nowhere} if there is none. */
export const placeAt = p.defineOf<[PByteString, PInt, PInt, PInt, PInt], PInt>(
  5,
  (cbor, count, first, stride, index) =>
    p.scope(function* () {
      const behind = yield* p.bind(p.call<Skip>(skipIn, cbor))
      return p.choose(
        p.lessThanInteger(count, p.integer(0)),
        p.call<PInt>(
          p.recursive<PInt, PLam<PInt, PInt>>((self, left) =>
            p.lambda((place) =>
              p.choose(
                p.equalsInteger(p.indexByteString(cbor, place), p.integer(breakByte)),
                p.integer(nowhere),
                p.choose(
                  p.equalsInteger(left, p.integer(0)),
                  place,
                  p.call<PInt>(
                    self(p.subtractInteger(left, p.integer(1))),
                    p.call<PInt>(behind, stride, place),
                  ),
                ),
              ),
            ),
          )(index),
          first,
        ),
        p.choose(
          both(p.lessThanInteger(p.integer(-1), index), p.lessThanInteger(index, count)),
          p.call<PInt>(behind, p.multiplyInteger(stride, index), first),
          p.integer(nowhere),
        ),
      )
    }),
)

/** The place of an array's item, by index from 0; {@link nowhere} behind the last, and before the first. */
export const elementAt = p.defineOf<[PByteString, PInt, PInt], PInt>(3, (cbor, array, index) =>
  withArray(cbor, array, (count, first) => placeAt(cbor, count, first, p.integer(1), index)),
)

/** Where the key of an entry of a map is, by its index, as {@link elementAt}. */
export const keyAt = (cbor: p.Bytes, map: p.Int, index: p.Int): p.Int =>
  withMap(cbor, map, (count, first) => placeAt(cbor, count, first, p.integer(2), index))

/** The terms that take the places of four fields. */
type Places = PLam<PInt, PLam<PInt, PLam<PInt, PLam<PInt, PType>>>>

const fieldsUnder = p.defineOf<[PByteString, PInt, PInt, PInt, PInt, PInt, Places], PType>(
  7,
  (cbor, map, one, two, three, four, then) =>
    p.scope(function* () {
      const behind = yield* p.bind(p.call<Skip>(skipIn, cbor))
      const find = p.fixed<PInt, PLam<PInt, Places>>((self, left) =>
        p.lambda((place) =>
          p.lambda((first) =>
            p.lambda((second) =>
              p.lambda((third) =>
                p.lambda((fourth) =>
                  p.choose(
                    isEnd(cbor, left, place),
                    p.call(then, first, second, third, fourth),
                    p.scope(function* () {
                      const key = yield* p.bind(p.indexByteString(cbor, place))
                      const value = yield* p.bind(p.addInteger(place, p.integer(1)))
                      const found = (wanted: p.Int, earlier: p.Int) =>
                        p.choose(p.equalsInteger(key, wanted), value, earlier)
                      return p.call(
                        self(p.subtractInteger(left, p.integer(1))),
                        p.call<PInt>(behind, p.integer(2), place),
                        found(one, first),
                        found(two, second),
                        found(three, third),
                        found(four, fourth),
                      )
                    }),
                  ),
                ),
              ),
            ),
          ),
        ),
      )
      const none = p.integer(nowhere)
      return withMap(cbor, map, (count, first) => p.call(find, count, first, none, none, none, none))
    }),
)

/**
 * Reads up to four fields of the map at the start of CBOR in one pass: where the value of each is, as
 * `fieldAt`. Of a key that comes again, the last counts.
 */
export const withFields = <T extends PType>(
  cbor: p.Bytes,
  keys: readonly number[],
  then: (...places: readonly p.Int[]) => Term<T>,
): Term<T> => {
  const [one, two, three, four] = [0, 1, 2, 3].map((place) => p.integer(keys[place] ?? nowhere)) as [
    p.Int,
    p.Int,
    p.Int,
    p.Int,
  ]
  const continuation = p.lambda((first: p.Int) =>
    p.lambda((second: p.Int) =>
      p.lambda((third: p.Int) => p.lambda((fourth: p.Int) => then(first, second, third, fourth))),
    ),
  ) as Term<PType> as Term<Places>
  return fieldsUnder(cbor, p.integer(0), one, two, three, four, continuation) as Term<T>
}
