import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  boolean,
  byteStringToInteger,
  bytes as constant,
  divideInteger,
  equalsInteger,
  headList,
  iData,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanInteger,
  listOf,
  modInteger,
  multiplyInteger,
  nullList,
  prepend,
  sliceByteString,
  subtractInteger,
  tailList,
  unIData,
} from '../../core/builtins.js'
import { both } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  fixed,
  type Int,
  type List,
  lambda,
  scope,
} from '../../core/term.js'
import { argumentSize, breakByte, container, kindByFirstByte, longHead } from './skip.js'

/** Goes on with so many items to read, at a place, inside containers of indefinite length. */
type GoOn = (left: Int, place: Int, outside: List) => Bool

/** The first bytes of containers of indefinite length: strings, an array and a map. */
const indefinite = { bytes: 0x5f, text: 0x7f, array: 0x9f, map: 0xbf } as const

/**
 * Whether bytes are anything but one item of CBOR to its end, in the eyes of `skip`: of other bytes it
 * passes every item. Chunks of strings may be any items, and tags and simple values any numbers. Never
 * fails.
 */
export const isMalformed = define<PByteString, PBool>((cbor) =>
  scope(function* () {
    const end = yield* bind(lengthOfByteString(cbor))
    return call<PBool>(
      fixed<PInt, PLam<PInt, PLam<PList<PData>, PBool>>>((self, left) =>
        lambda((place) =>
          lambda((outside) => {
            const goOn: GoOn = (items, from, within) => call<PBool>(self(items), from, within)
            return choose(
              lessThanInteger(place, end),
              scope(function* () {
                const first = yield* bind(indexByteString(cbor, place))
                return choose(
                  equalsInteger(left, integer(0)),
                  choose(
                    nullList(outside),
                    // Bytes follow.
                    boolean(true),
                    behindEntry(first, place, outside, goOn),
                  ),
                  behindItem(cbor, first, left, place, outside, goOn),
                )
              }),
              choose(
                both(equalsInteger(left, integer(0)), nullList(outside)),
                // An item may end behind the end.
                lessThanInteger(end, place),
                boolean(true),
              ),
            )
          }),
        ),
      ),
      integer(1),
      integer(0),
      listOf(),
    )
  }),
)

/**
 * Leaves a container of indefinite length at its break, or reads on in it. A container is noted by the
 * number of items that are left outside, doubled, and one more for a map.
 */
const behindEntry = (first: Int, place: Int, outside: List, goOn: GoOn): Bool =>
  scope(function* () {
    const noted = yield* bind(unIData(headList(outside)))
    return choose(
      equalsInteger(first, integer(breakByte)),
      goOn(divideInteger(noted, integer(2)), addInteger(place, integer(1)), tailList(outside)),
      goOn(addInteger(modInteger(noted, integer(2)), integer(1)), place, outside),
    )
  })

const behindItem = (cbor: Bytes, first: Int, left: Int, place: Int, outside: List, goOn: GoOn): Bool =>
  scope(function* () {
    const kind = yield* bind(indexByteString(constant(kindByFirstByte), first))
    const rest = yield* bind(subtractInteger(left, integer(1)))
    const next = yield* bind(addInteger(place, integer(1)))
    return choose(
      lessThanInteger(kind, integer(container)),
      goOn(rest, addInteger(place, kind), outside),
      choose(
        lessThanInteger(kind, integer(longHead)),
        goOn(addInteger(rest, subtractInteger(kind, integer(container))), next, outside),
        behindLongHead(cbor, first, rest, next, outside, goOn),
      ),
    )
  })

const behindLongHead = (cbor: Bytes, first: Int, rest: Int, next: Int, outside: List, goOn: GoOn): Bool =>
  scope(function* () {
    const info = yield* bind(modInteger(first, integer(32)))
    return choose(
      equalsInteger(info, integer(31)),
      choose(
        both(
          lessThanInteger(integer(indefinite.bytes - 1), first),
          lessThanInteger(first, integer(indefinite.map + 1)),
        ),
        goOn(
          integer(0),
          next,
          prepend(
            iData(
              addInteger(
                multiplyInteger(rest, integer(2)),
                choose(equalsInteger(first, integer(indefinite.map)), integer(1), integer(0)),
              ),
            ),
            outside,
          ),
        ),
        boolean(true),
      ),
      choose(
        lessThanInteger(integer(27), info),
        boolean(true),
        scope(function* () {
          const size = yield* bind(argumentSize(info))
          const argument = yield* bind(byteStringToInteger(sliceByteString(next, size, cbor)))
          const behind = yield* bind(addInteger(next, size))
          return choose(
            lessThanInteger(first, integer(0x80)),
            goOn(rest, addInteger(behind, argument), outside),
            goOn(addInteger(rest, itemsBehind(first, argument)), behind, outside),
          )
        }),
      ),
    )
  })

/** How many items a container has: an array, a map or a tag, by its first byte and its argument. */
const itemsBehind = (first: Int, argument: Int): Int =>
  choose(
    lessThanInteger(first, integer(0xa0)),
    argument,
    choose(lessThanInteger(first, integer(0xc0)), addInteger(argument, argument), integer(1)),
  )
