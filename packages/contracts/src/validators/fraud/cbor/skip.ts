import type { PByteString, PInt, PLam, PType, Term } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  byteStringToInteger,
  bytes as constant,
  divideInteger,
  fail,
  indexByteString,
  integer,
  lessThanInteger,
  modInteger,
  multiplyInteger,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import {
  type Bytes,
  bind,
  call,
  choose,
  choosing,
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

/** How an item is passed, by its first byte. */
const Step = {
  /** By its length. */
  simple: 0,
  /** A string whose length is the next byte. */
  shortString: 1,
  /** An array or a map: by its first byte, and the items in it. */
  container: 2,
  /** An item of indefinite length. */
  opening: 3,
  break: 4,
  /** An argument in bytes of its own. */
  longHead: 5,
  /** By its head: the item behind it counts instead. */
  tag: 6,
} as const

/** The head of a byte string of up to 255 bytes, in the next byte: keys, hashes and addresses have it. */
export const shortString = 0x58

const [steps, amounts] = (() => {
  const pairs = Array.from({ length: 256 }, (_, first): readonly [step: number, amount: number] => {
    const [major, info] = [first >> 5, first & 31]
    const isContainer = major === 4 || major === 5
    if (first === shortString) return [Step.shortString, 0]
    if (first === breakByte) return [Step.break, 0]
    if (info === 31 && major > 1 && major < 6) return [Step.opening, 0]
    if (major === 6 && info < 28) return [Step.tag, info < 24 ? 1 : 1 + 2 ** (info - 24)]
    if (info > 23 && (isContainer || major === 6 || major === 2 || major === 3 || info > 27))
      return [Step.longHead, 0]
    if (!isContainer)
      return [Step.simple, major === 2 || major === 3 ? 1 + info : info < 24 ? 1 : 1 + 2 ** (info - 24)]
    const items = info * (major === 5 ? 2 : 1)
    return items === 0 ? [Step.simple, 1] : [Step.container, items - 1]
  })
  const table = (at: 0 | 1): Bytes => hoisted(constant(Uint8Array.from(pairs, (pair) => pair[at])))
  return [table(0), table(1)]
})()

/** The {@link Step} of a first byte. */
export const stepOf = (first: Int): Int => indexByteString(steps, first)
/** The length of a simple item and of the head of a tag; one less than the items in a container. */
export const amountOf = (first: Int): Int => indexByteString(amounts, first)

/** The number of bytes of an argument, by additional information 24–27; fails for any other. */
export const argumentSize = (info: Int): Int =>
  indexByteString(constant(Uint8Array.of(1, 2, 4, 8)), subtractInteger(info, integer(24)))

const outside = 2n ** 64n

export type Skip = PLam<PInt, PLam<PInt, PInt>>

/**
 * Bytes → count → place: the place behind so many items. In an item of indefinite length, the count behind
 * it is kept in multiples of {@link outside}, and half of that is left: more than any item has.
 *
 * Items are passed by twos: most of a step of recursion is the recursion.
 */
export const skipIn = hoisted(
  lambda<PByteString, Skip>((cbor) =>
    fixed<PInt, PLam<PInt, PInt>>((self, count) =>
      lambda((place) => {
        const passing = passingIn(cbor, self)
        return choose(
          lessThanInteger(count, integer(strideOfItems)),
          choosing(
            count,
            ...Array.from({ length: strideOfItems }, (_, left) =>
              passing(
                left,
                place,
                (passed) => integer(left - passed),
                (behind) => behind,
              ),
            ),
          ),
          passing(
            strideOfItems,
            place,
            (passed) => (passed === 0 ? count : subtractInteger(count, integer(passed))),
            (behind) => call<PInt>(self(subtractInteger(count, integer(strideOfItems))), behind),
          ),
        )
      }),
    ),
  ),
)

const strideOfItems = 2

type Self = (count: Int) => Term<PLam<PInt, PInt>>

/** Passes some items and goes on behind them; or from within them, at one that does more than pass. */
const passingIn =
  (cbor: Bytes, self: Self) =>
  (items: number, start: Int, left: (passed: number) => Int, goOn: (behind: Int) => Int): Int => {
    const pass = (passed: number, from: Int): Int =>
      passed === items
        ? goOn(from)
        : scope(function* () {
            const place = yield* bind(from)
            const first = yield* bind(indexByteString(cbor, place))
            const next = addInteger(place, integer(1))
            return choosing(
              stepOf(first),
              pass(passed + 1, addInteger(place, amountOf(first))),
              pass(passed + 1, addInteger(addInteger(place, integer(2)), indexByteString(cbor, next))),
              call<PInt>(self(addInteger(left(passed), amountOf(first))), next),
              call<PInt>(
                self(subtractInteger(multiplyInteger(left(passed), integer(outside)), integer(outside / 2n))),
                next,
              ),
              // Fails at a break that ends nothing.
              choose(
                lessThanInteger(left(passed), integer(outside / 4n)),
                fail(),
                call<PInt>(self(divideInteger(left(passed), integer(outside))), next),
              ),
              behindLongHead(cbor, left(passed), place, first, (count, behind) =>
                call<PInt>(self(count), behind),
              ),
              call<PInt>(self(left(passed)), addInteger(place, amountOf(first))),
            )
          })
    return pass(0, start)
  }

/** Goes on behind a head with its argument, and its string: how many items are left there, and the place. */
export const behindLongHead = <T extends PType>(
  cbor: Bytes,
  count: Int,
  place: Int,
  first: Int,
  then: (left: Int, behind: Int) => Term<T>,
): Term<T> =>
  longHead(
    cbor,
    count,
    place,
    first,
    lambda((left: Int) => lambda((behind: Int) => then(left, behind))) as Term<PType> as Term<Then>,
  ) as Term<T>

type Then = PLam<PInt, PLam<PInt, PType>>

const longHead = defineOf<[PByteString, PInt, PInt, PInt, Then], PType>(
  5,
  (cbor, count, place, first, then) =>
    scope(function* () {
      const size = yield* bind(argumentSize(modInteger(first, integer(32))))
      const next = yield* bind(addInteger(place, integer(1)))
      const argument = yield* bind(byteStringToInteger(sliceByteString(next, size, cbor)))
      const behind = yield* bind(addInteger(next, size))
      const left = yield* bind(subtractInteger(count, integer(1)))
      return choose(
        lessThanInteger(first, integer(0x80)),
        call(then, left, addInteger(behind, argument)),
        call(
          then,
          addInteger(
            left,
            choose(lessThanInteger(first, integer(0xa0)), argument, addInteger(argument, argument)),
          ),
          behind,
        ),
      )
    }),
)

/** The place behind `count` items. */
export const skip = (cbor: Bytes, count: Int, place: Int): Int =>
  call<PInt>(call<Skip>(skipIn, cbor), count, place)

export const itemBytes = defineOf<[PByteString, PInt], PByteString>(2, (cbor, place) =>
  sliceByteString(place, subtractInteger(skip(cbor, integer(1), place), place), cbor),
)
