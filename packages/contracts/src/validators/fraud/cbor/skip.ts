import type { PBool, PByteString, PData, PInt, PLam, PList, PType, Term } from '@harmoniclabs/plu-ts'
import { both, either } from '../../core/data.js'
import * as p from '../../core/term.js'

/** Goes on with so many items to read, at a place, inside containers of indefinite length. */
type GoOn = (left: p.Int, place: p.Int, outside: p.List) => p.Bool

/**
 * Whether bytes are anything but one item of CBOR to its end, in the eyes of `skip`: of other bytes it
 * passes every item. Chunks of strings may be any items, and tags and simple values any numbers. Never
 * fails.
 */
export const isMalformed = p.define<PByteString, PBool>((cbor) =>
  p.scope(function* () {
    const end = yield* p.bind(p.lengthOfByteString(cbor))
    return p.call<PBool>(
      p.fixed<PInt, PLam<PInt, PLam<PList<PData>, PBool>>>((self, left) =>
        p.lambda((place) =>
          p.lambda((outside) => {
            const goOn: GoOn = (items, from, within) => p.call<PBool>(self(items), from, within)
            return p.choose(
              p.lessThanInteger(place, end),
              p.scope(function* () {
                const first = yield* p.bind(p.indexByteString(cbor, place))
                return p.choose(
                  p.equalsInteger(left, p.integer(0)),
                  p.choose(
                    p.nullList(outside),
                    // Bytes follow.
                    p.boolean(true),
                    behindEntry(first, place, outside, goOn),
                  ),
                  behindItem(cbor, first, left, place, outside, goOn),
                )
              }),
              p.choose(
                both(p.equalsInteger(left, p.integer(0)), p.nullList(outside)),
                // An item may end behind the end.
                p.lessThanInteger(end, place),
                p.boolean(true),
              ),
            )
          }),
        ),
      ),
      p.integer(1),
      p.integer(0),
      p.listOf(),
    )
  }),
)

/**
 * Leaves a container of indefinite length at its break, or reads on in it. A container is noted by the
 * number of items that are left outside, doubled, and one more for a map.
 */
const behindEntry = (first: p.Int, place: p.Int, outside: p.List, goOn: GoOn): p.Bool =>
  p.scope(function* () {
    const noted = yield* p.bind(p.unIData(p.headList(outside)))
    return p.choose(
      p.equalsInteger(first, p.integer(breakByte)),
      goOn(p.divideInteger(noted, p.integer(2)), p.addInteger(place, p.integer(1)), p.tailList(outside)),
      goOn(p.addInteger(p.modInteger(noted, p.integer(2)), p.integer(1)), place, outside),
    )
  })

const behindItem = (
  cbor: p.Bytes,
  first: p.Int,
  left: p.Int,
  place: p.Int,
  outside: p.List,
  goOn: GoOn,
): p.Bool =>
  p.scope(function* () {
    const rest = yield* p.bind(p.subtractInteger(left, p.integer(1)))
    const next = yield* p.bind(p.addInteger(place, p.integer(1)))
    return p.choosing(
      stepOf(first),
      goOn(rest, p.addInteger(place, amountOf(first)), outside),
      p.choose(
        p.lessThanInteger(next, p.lengthOfByteString(cbor)),
        goOn(rest, p.addInteger(p.addInteger(place, p.integer(2)), p.indexByteString(cbor, next)), outside),
        p.boolean(true),
      ),
      goOn(p.addInteger(left, amountOf(first)), next, outside),
      goOn(p.integer(0), next, p.prepend(p.iData(notedOf(first, rest)), outside)),
      p.boolean(true),
      p.choose(
        p.lessThanInteger(p.integer(27), p.modInteger(first, p.integer(32))),
        p.boolean(true),
        behindLongHead(cbor, left, place, first, (items, behind) => goOn(items, behind, outside)),
      ),
      goOn(left, p.addInteger(place, amountOf(first)), outside),
    )
  })

/** The note of a container of indefinite length. */
const notedOf = (first: p.Int, rest: p.Int): p.Int =>
  p.addInteger(
    p.multiplyInteger(rest, p.integer(2)),
    p.choose(p.equalsInteger(first, p.integer(0xbf)), p.integer(1), p.integer(0)),
  )

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
  const table = (at: 0 | 1): p.Bytes => p.hoisted(p.bytes(Uint8Array.from(pairs, (pair) => pair[at])))
  return [table(0), table(1)]
})()

/** The {@link Step} of a first byte. */
const stepOf = (first: p.Int): p.Int => p.indexByteString(steps, first)
/** The length of a simple item and of the head of a tag; one less than the items in a container. */
const amountOf = (first: p.Int): p.Int => p.indexByteString(amounts, first)

/** The number of bytes of an argument, by additional information 24–27; fails for any other. */
export const argumentSize = (info: p.Int): p.Int =>
  p.indexByteString(p.bytes(Uint8Array.of(1, 2, 4, 8)), p.subtractInteger(info, p.integer(24)))

const outside = 2n ** 64n

export type Skip = PLam<PInt, PLam<PInt, PInt>>

/**
 * Bytes → count → place: the place behind so many items. In an item of indefinite length, the count behind
 * it is kept in multiples of {@link outside}, and half of that is left: more than any item has.
 *
 * Items are passed by twos: most of a step of recursion is the recursion.
 */
export const skipIn = p.hoisted(
  p.lambda<PByteString, Skip>((cbor) =>
    p.fixed<PInt, PLam<PInt, PInt>>((self, count) =>
      p.lambda((place) => {
        const passing = passingIn(cbor, self)
        return p.choose(
          p.lessThanInteger(count, p.integer(strideOfItems)),
          p.choosing(
            count,
            ...Array.from({ length: strideOfItems }, (_, left) =>
              passing(
                left,
                place,
                (passed) => p.integer(left - passed),
                (behind) => behind,
              ),
            ),
          ),
          passing(
            strideOfItems,
            place,
            (passed) => (passed === 0 ? count : p.subtractInteger(count, p.integer(passed))),
            (behind) => p.call<PInt>(self(p.subtractInteger(count, p.integer(strideOfItems))), behind),
          ),
        )
      }),
    ),
  ),
)

const strideOfItems = 2

type Self = (count: p.Int) => Term<PLam<PInt, PInt>>

/** Passes some items and goes on behind them; or from within them, at one that does more than pass. */
const passingIn =
  (cbor: p.Bytes, self: Self) =>
  (items: number, start: p.Int, left: (passed: number) => p.Int, goOn: (behind: p.Int) => p.Int): p.Int => {
    const pass = (passed: number, from: p.Int): p.Int =>
      passed === items
        ? goOn(from)
        : p.scope(function* () {
            const place = yield* p.bind(from)
            const first = yield* p.bind(p.indexByteString(cbor, place))
            const next = p.addInteger(place, p.integer(1))
            return p.choosing(
              stepOf(first),
              pass(passed + 1, p.addInteger(place, amountOf(first))),
              pass(
                passed + 1,
                p.addInteger(p.addInteger(place, p.integer(2)), p.indexByteString(cbor, next)),
              ),
              p.call<PInt>(self(p.addInteger(left(passed), amountOf(first))), next),
              p.call<PInt>(
                self(
                  p.subtractInteger(
                    p.multiplyInteger(left(passed), p.integer(outside)),
                    p.integer(outside / 2n),
                  ),
                ),
                next,
              ),
              // Fails at a break that ends nothing.
              p.choose(
                p.lessThanInteger(left(passed), p.integer(outside / 4n)),
                p.fail(),
                p.call<PInt>(self(p.divideInteger(left(passed), p.integer(outside))), next),
              ),
              behindLongHead(cbor, left(passed), place, first, (count, behind) =>
                p.call<PInt>(self(count), behind),
              ),
              p.call<PInt>(self(left(passed)), p.addInteger(place, amountOf(first))),
            )
          })
    return pass(0, start)
  }

/** Goes on behind a head with its argument, and its string: how many items are left there, and the place. */
const behindLongHead = <T extends PType>(
  cbor: p.Bytes,
  count: p.Int,
  place: p.Int,
  first: p.Int,
  then: (left: p.Int, behind: p.Int) => Term<T>,
): Term<T> =>
  longHead(
    cbor,
    count,
    place,
    first,
    p.lambda((left: p.Int) => p.lambda((behind: p.Int) => then(left, behind))) as Term<PType> as Term<Then>,
  ) as Term<T>

type Then = PLam<PInt, PLam<PInt, PType>>

const longHead = p.defineOf<[PByteString, PInt, PInt, PInt, Then], PType>(
  5,
  (cbor, count, place, first, then) =>
    p.scope(function* () {
      const size = yield* p.bind(argumentSize(p.modInteger(first, p.integer(32))))
      const next = yield* p.bind(p.addInteger(place, p.integer(1)))
      const argument = yield* p.bind(p.byteStringToInteger(p.sliceByteString(next, size, cbor)))
      const behind = yield* p.bind(p.addInteger(next, size))
      const left = yield* p.bind(p.subtractInteger(count, p.integer(1)))
      return p.choose(
        p.lessThanInteger(first, p.integer(0x80)),
        p.call(then, left, p.addInteger(behind, argument)),
        p.call(
          then,
          p.addInteger(
            left,
            p.choose(p.lessThanInteger(first, p.integer(0xa0)), argument, p.addInteger(argument, argument)),
          ),
          behind,
        ),
      )
    }),
)

/** The place behind `count` items. */
export const skip = (cbor: p.Bytes, count: p.Int, place: p.Int): p.Int =>
  p.call<PInt>(p.call<Skip>(skipIn, cbor), count, place)

export const itemBytes = p.defineOf<[PByteString, PInt], PByteString>(2, (cbor, place) =>
  p.sliceByteString(place, p.subtractInteger(skip(cbor, p.integer(1), place), place), cbor),
)

/** By first byte: the length of a head, with the string behind it (1–24); or one of the following. */
const breakKind = 64
const longForm = 128
const reserved = 255

const lengthByFirstByte = Uint8Array.from({ length: 256 }, (_, first) => {
  const [major, info] = [first >> 5, first & 31]
  if (first === 0xff) return breakKind
  if (info > 27 && (info < 31 || major < 2 || major > 5)) return reserved
  if (major === 7) return info < 24 ? 1 : 1 + 2 ** (info - 24)
  if (info > 23) return info === 31 ? 1 : longForm
  return major === 2 || major === 3 ? 1 + info : 1
})

/**
 * Whether CBOR has more items than are allowed, or a head that is not the shortest: the profile's rules
 * `TooManyItems` and `LongHeadsNotSupported`. Every head is an item, those of containers, tags and chunks of
 * strings included, and every break. Fails if neither is so, because it reads beyond the end.
 */
export const isUnreadable = p.defineOf<[PByteString, PInt], PBool>(2, (cbor, maxItems) =>
  p.call<PBool>(
    p.fixed<PInt, PLam<PInt, PBool>>((self, left) =>
      p.lambda((place) =>
        p.choose(
          p.equalsInteger(left, p.integer(0)),
          p.boolean(true),
          p.scope(function* () {
            const first = yield* p.bind(p.indexByteString(cbor, place))
            const length = yield* p.bind(p.indexByteString(p.bytes(lengthByFirstByte), first))
            return p.choose(
              p.lessThanInteger(length, p.integer(breakKind)),
              p.call<PBool>(self(p.subtractInteger(left, p.integer(1))), p.addInteger(place, length)),
              p.choose(
                p.equalsInteger(length, p.integer(breakKind)),
                p.call<PBool>(self(p.subtractInteger(left, p.integer(1))), p.addInteger(place, p.integer(1))),
                p.choose(
                  p.equalsInteger(length, p.integer(reserved)),
                  p.fail(),
                  unlessShorter(cbor, first, place, (behind) =>
                    p.call<PBool>(self(p.subtractInteger(left, p.integer(1))), behind),
                  ),
                ),
              ),
            )
          }),
        ),
      ),
    ),
    p.addInteger(maxItems, p.integer(1)),
    p.integer(0),
  ),
)

/** True if the argument of a head fits into a shorter one; otherwise goes on behind head and string. */
const unlessShorter = (cbor: p.Bytes, first: p.Int, place: p.Int, goOn: (behind: p.Int) => p.Bool): p.Bool =>
  p.scope(function* () {
    const size = yield* p.bind(argumentSize(p.modInteger(first, p.integer(32))))
    const next = yield* p.bind(p.addInteger(place, p.integer(1)))
    const argument = yield* p.bind(p.byteStringToInteger(p.sliceByteString(next, size, cbor)))
    const behind = yield* p.bind(p.addInteger(next, size))
    const isString = both(
      p.lessThanInteger(p.integer(0x3f), first),
      p.lessThanInteger(first, p.integer(0x80)),
    )
    return either(
      p.lessThanInteger(argument, leastArgument(size)),
      goOn(p.choose(isString, p.addInteger(behind, argument), behind)),
    )
  })

/** The least argument that needs so many bytes. */
const leastArgument = (size: p.Int): p.Int =>
  p.choose(
    p.equalsInteger(size, p.integer(1)),
    p.integer(24),
    p.choose(
      p.equalsInteger(size, p.integer(2)),
      p.integer(2 ** 8),
      p.choose(p.equalsInteger(size, p.integer(4)), p.integer(2 ** 16), p.integer(2n ** 32n)),
    ),
  )
