import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  boolean,
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
  choosing,
  define,
  fixed,
  type Int,
  type List,
  lambda,
  scope,
} from '../../core/term.js'
import { amountOf, behindLongHead, breakByte, stepOf } from './skip.js'

/** Goes on with so many items to read, at a place, inside containers of indefinite length. */
type GoOn = (left: Int, place: Int, outside: List) => Bool

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
    const rest = yield* bind(subtractInteger(left, integer(1)))
    const next = yield* bind(addInteger(place, integer(1)))
    return choosing(
      stepOf(first),
      goOn(rest, addInteger(place, amountOf(first)), outside),
      choose(
        lessThanInteger(next, lengthOfByteString(cbor)),
        goOn(rest, addInteger(addInteger(place, integer(2)), indexByteString(cbor, next)), outside),
        boolean(true),
      ),
      goOn(addInteger(left, amountOf(first)), next, outside),
      goOn(integer(0), next, prepend(iData(notedOf(first, rest)), outside)),
      boolean(true),
      choose(
        lessThanInteger(integer(27), modInteger(first, integer(32))),
        boolean(true),
        behindLongHead(cbor, left, place, first, (items, behind) => goOn(items, behind, outside)),
      ),
      goOn(left, addInteger(place, amountOf(first)), outside),
    )
  })

/** The note of a container of indefinite length. */
const notedOf = (first: Int, rest: Int): Int =>
  addInteger(
    multiplyInteger(rest, integer(2)),
    choose(equalsInteger(first, integer(0xbf)), integer(1), integer(0)),
  )
