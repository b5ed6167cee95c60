import type { PBool, PByteString, PInt, PLam } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  boolean,
  byteStringToInteger,
  bytes as constant,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanInteger,
  modInteger,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import { both, either } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  defineOf,
  fixed,
  type Int,
  lambda,
  scope,
} from '../../core/term.js'
import { argumentSize } from './skip.js'

/** By first byte: the length of a head, with the string behind it (1–24); or one of the following. */
const breakKind = 64
const longHead = 128
const reserved = 255

const lengthByFirstByte = Uint8Array.from({ length: 256 }, (_, first) => {
  const [major, info] = [first >> 5, first & 31]
  if (first === 0xff) return breakKind
  if (info > 27 && (info < 31 || major < 2 || major > 5)) return reserved
  if (major === 7) return info < 24 ? 1 : 1 + 2 ** (info - 24)
  if (info > 23) return info === 31 ? 1 : longHead
  return major === 2 || major === 3 ? 1 + info : 1
})

/**
 * Whether CBOR has more items than are allowed, or a head that is not the shortest: the profile's rules
 * `TooManyItems` and `LongHeadsNotSupported`. Every head is an item, those of containers, tags and chunks of
 * strings included, and every break. Fails if neither is so, because it reads beyond the end.
 */
export const isUnreadable = defineOf<[PByteString, PInt], PBool>(2, (cbor, maxItems) =>
  call<PBool>(
    fixed<PInt, PLam<PInt, PBool>>((self, left) =>
      lambda((place) =>
        choose(
          equalsInteger(left, integer(0)),
          boolean(true),
          scope(function* () {
            const first = yield* bind(indexByteString(cbor, place))
            const length = yield* bind(indexByteString(constant(lengthByFirstByte), first))
            return choose(
              lessThanInteger(length, integer(breakKind)),
              call<PBool>(self(subtractInteger(left, integer(1))), addInteger(place, length)),
              choose(
                equalsInteger(length, integer(breakKind)),
                call<PBool>(self(subtractInteger(left, integer(1))), addInteger(place, integer(1))),
                choose(
                  equalsInteger(length, integer(reserved)),
                  fail(),
                  behindLongHead(cbor, first, place, (behind) =>
                    call<PBool>(self(subtractInteger(left, integer(1))), behind),
                  ),
                ),
              ),
            )
          }),
        ),
      ),
    ),
    addInteger(maxItems, integer(1)),
    integer(0),
  ),
)

/** True if the argument of a head fits into a shorter one; otherwise goes on behind head and string. */
const behindLongHead = (cbor: Bytes, first: Int, place: Int, goOn: (behind: Int) => Bool): Bool =>
  scope(function* () {
    const size = yield* bind(argumentSize(modInteger(first, integer(32))))
    const next = yield* bind(addInteger(place, integer(1)))
    const argument = yield* bind(byteStringToInteger(sliceByteString(next, size, cbor)))
    const behind = yield* bind(addInteger(next, size))
    const isString = both(lessThanInteger(integer(0x3f), first), lessThanInteger(first, integer(0x80)))
    return either(
      lessThanInteger(argument, leastArgument(size)),
      goOn(choose(isString, addInteger(behind, argument), behind)),
    )
  })

/** The least argument that needs so many bytes. */
const leastArgument = (size: Int): Int =>
  choose(
    equalsInteger(size, integer(1)),
    integer(24),
    choose(
      equalsInteger(size, integer(2)),
      integer(2 ** 8),
      choose(equalsInteger(size, integer(4)), integer(2 ** 16), integer(2n ** 32n)),
    ),
  )
