import type { PByteString, PInt, PLam, Term } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  byteStringToInteger,
  bytes as constant,
  divideInteger,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanInteger,
  modInteger,
  multiplyInteger,
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
  hoisted,
  type Int,
  lambda,
  scope,
} from '../../core/term.js'

/** The place of something that is not there. */
export const nowhere = -1

/** The break that ends an item of indefinite length. */
export const breakByte = 0xff

/**
 * By first byte: the length of an item that needs no more to tell its length (1–24), {@link container} and
 * the number of items in an array, a map or a tag, or {@link longHead}.
 */
export const container = 128

export const longHead = 255

export const kindByFirstByte = Uint8Array.from({ length: 256 }, (_, first) => {
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

export type Skip = PLam<PInt, PLam<PInt, PInt>>

/**
 * Bytes → count → place: the place behind so many items. In an item of indefinite length, the count behind
 * it is kept in multiples of {@link outside}, and half of that is left: more than any item has.
 */
export const skipIn = hoisted(
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
                choose(
                  equalsInteger(first, integer(shortString)),
                  call<PInt>(
                    self(left),
                    addInteger(
                      addInteger(place, integer(2)),
                      indexByteString(cbor, addInteger(place, integer(1))),
                    ),
                  ),
                  skipLongHead(cbor, self, count, place, first),
                ),
              ),
            )
          }),
        ),
      ),
    ),
  ),
)

/** The head of a byte string of up to 255 bytes, in the next byte: keys, hashes and addresses have it. */
export const shortString = 0x58

const outside = 2n ** 64n

/** Goes on behind a head with its argument, in an item of indefinite length, or behind its break. */
const skipLongHead = (
  cbor: Bytes,
  self: (count: Int) => Term<PLam<PInt, PInt>>,
  count: Int,
  place: Int,
  first: Int,
): Int =>
  scope(function* () {
    const info = yield* bind(modInteger(first, integer(32)))
    const next = yield* bind(addInteger(place, integer(1)))
    const left = yield* bind(subtractInteger(count, integer(1)))
    return choose(
      equalsInteger(info, integer(31)),
      choose(
        equalsInteger(first, integer(breakByte)),
        // Fails at a break that ends nothing.
        choose(
          lessThanInteger(count, integer(outside / 4n)),
          fail(),
          call<PInt>(self(divideInteger(count, integer(outside))), next),
        ),
        choose(
          both(lessThanInteger(integer(0x5e), first), lessThanInteger(first, integer(0xc0))),
          call<PInt>(self(addInteger(multiplyInteger(left, integer(outside)), integer(outside / 2n))), next),
          fail(),
        ),
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

/** The place behind `count` items. */
export const skip = (cbor: Bytes, count: Int, place: Int): Int =>
  call<PInt>(call<Skip>(skipIn, cbor), count, place)

export const itemBytes = defineOf<[PByteString, PInt], PByteString>(2, (cbor, place) =>
  sliceByteString(place, subtractInteger(skip(cbor, integer(1), place), place), cbor),
)
