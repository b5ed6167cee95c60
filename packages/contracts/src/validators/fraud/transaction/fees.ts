import type { PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  bytes as constant,
  divideInteger,
  equalsByteString,
  equalsInteger,
  headList,
  iData,
  indexByteString,
  integer,
  lessThanInteger,
  listOf,
  multiplyInteger,
  nullList,
  prepend,
  sliceByteString,
  subtractInteger,
  tailList,
  unIData,
} from '../../core/builtins.js'
import { includes } from '../../core/data.js'
import {
  type Bytes,
  bind,
  call,
  choose,
  define,
  fixed,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import { argumentAt, fieldAt, isEnd, isMap, withArray, withHead } from '../cbor/read.js'
import { isThere } from '../cbor/references.js'
import { skip } from '../cbor/skip.js'
import { referenceScriptAt } from '../cbor/values.js'

/*
 * The parts of the minimum fee that depend on scripts, as `minimumFee` of `@ratatosk/ledger` computes them.
 */

/** The price of an execution unit: numerators of lovelace over one denominator. */
interface UnitPrices {
  readonly memory: Int
  readonly steps: Int
  readonly denominator: Int
}

const redeemersField = 5
const openArray = 0x9f

/** The price of the execution units that the redeemers of a witness set declare, rounded up. */
export const unitsPrice = (witnessSet: Bytes, prices: UnitPrices): Int =>
  scope(function* () {
    const place = yield* bind(fieldAt(witnessSet, integer(0), redeemersField))
    return choose(
      isThere(place),
      scope(function* () {
        const inMap = yield* bind(isMap(indexByteString(witnessSet, place)))
        const cost = yield* bind(
          sumOfLast(
            withHead(witnessSet, place, (count, first) =>
              call<PList<PData>>(
                fixed<PInt, PLam<PInt, PLam<PList<PData>, PList<PData>>>>((self, left) =>
                  lambda((redeemer) =>
                    lambda((before) =>
                      choose(
                        isEnd(witnessSet, left, redeemer),
                        before,
                        scope(function* () {
                          const pointer = yield* bind(withArray(witnessSet, redeemer, (_, start) => start))
                          // `[purpose, index, data, units]`, or `[purpose, index]` and `[data, units]`.
                          const own = yield* bind(
                            choose(inMap, skip(witnessSet, integer(1), redeemer), redeemer),
                          )
                          const units = yield* bind(
                            choose(
                              inMap,
                              withArray(witnessSet, own, (_, data) => skip(witnessSet, integer(1), data)),
                              skip(witnessSet, integer(3), pointer),
                            ),
                          )
                          const behind = yield* bind(skip(witnessSet, integer(1), units))
                          return call<PList<PData>>(
                            self(subtractInteger(left, integer(1))),
                            // Behind the break of an array of indefinite length.
                            choose(
                              equalsInteger(indexByteString(witnessSet, own), integer(openArray)),
                              addInteger(behind, integer(1)),
                              behind,
                            ),
                            prepend(
                              iData(pointerAt(witnessSet, pointer)),
                              prepend(iData(costAt(witnessSet, units, prices)), before),
                            ),
                          )
                        }),
                      ),
                    ),
                  ),
                ),
                count,
                first,
                listOf(),
              ),
            ),
          ),
        )
        const { denominator } = prices
        return divideInteger(addInteger(cost, subtractInteger(denominator, integer(1))), denominator)
      }),
      integer(0),
    )
  })

/** Purpose and index of a redeemer in one number: the index has at most 32 bits. */
const pointerAt = (cbor: Bytes, place: Int): Int =>
  addInteger(
    multiplyInteger(argumentAt(cbor, place), integer(2n ** 32n)),
    argumentAt(cbor, skip(cbor, integer(1), place)),
  )

const costAt = (cbor: Bytes, units: Int, { memory, steps }: UnitPrices): Int =>
  withArray(cbor, units, (_count, first) =>
    addInteger(
      multiplyInteger(memory, argumentAt(cbor, first)),
      multiplyInteger(steps, argumentAt(cbor, skip(cbor, integer(1), first))),
    ),
  )

/**
 * The sum of the costs in a list of pointers and costs, last redeemer first: of equal pointers, only the last
 * in the witness set counts.
 */
const sumOfLast = (redeemers: List): Int =>
  call<PInt>(
    recursive<PList<PData>, PLam<PList<PData>, PInt>>((self, rest) =>
      lambda((counted) =>
        choose(
          nullList(rest),
          integer(0),
          scope(function* () {
            const pointer = yield* bind(headList(rest))
            const others = yield* bind(tailList(rest))
            return addInteger(
              choose(includes(counted, pointer), integer(0), unIData(headList(others))),
              call<PInt>(self(tailList(others)), prepend(pointer, counted)),
            )
          }),
        ),
      ),
    )(redeemers),
    listOf(),
  )

/** The first bytes of a reference script: tag 24; and of its content: an array of two items. */
const encodedCbor = Uint8Array.of(0xd8, 0x18)
const pair = 0x82

/**
 * The size of an output's reference script: the bytes of a Plutus script, the CBOR of a native one. 0 without
 * one, and in any other encoding than the definite and shortest one.
 */
export const referenceScriptSize = define<PByteString, PInt>((output) =>
  scope(function* () {
    const place = yield* bind(referenceScriptAt(output, integer(0)))
    return choose(
      isThere(place),
      choose(
        equalsByteString(sliceByteString(place, integer(2), output), constant(encodedCbor)),
        withHead(output, addInteger(place, integer(2)), (length, content) =>
          choose(
            equalsInteger(indexByteString(output, content), integer(pair)),
            scope(function* () {
              const language = yield* bind(indexByteString(output, addInteger(content, integer(1))))
              return choose(
                equalsInteger(language, integer(0)),
                subtractInteger(length, integer(2)),
                choose(
                  lessThanInteger(language, integer(4)),
                  argumentAt(output, addInteger(content, integer(2))),
                  integer(0),
                ),
              )
            }),
            integer(0),
          ),
        ),
        integer(0),
      ),
      integer(0),
    )
  }),
)

const tierSize = 25_600

/** The price of reference scripts, rounded down: each tier costs 1.2 times the one before per byte. */
export const referenceScriptsPrice = (size: Int, numerator: Int, denominator: Int): Int =>
  call<PInt>(
    recursive<PInt, PLam<PInt, PLam<PInt, PLam<PInt, PInt>>>>((self, left) =>
      lambda((price) =>
        lambda((over) =>
          lambda((sum) =>
            choose(
              lessThanInteger(left, integer(tierSize)),
              divideInteger(addInteger(sum, multiplyInteger(left, price)), over),
              call<PInt>(
                self(subtractInteger(left, integer(tierSize))),
                multiplyInteger(price, integer(6)),
                multiplyInteger(over, integer(5)),
                multiplyInteger(addInteger(sum, multiplyInteger(integer(tierSize), price)), integer(5)),
              ),
            ),
          ),
        ),
      ),
    )(size),
    numerator,
    denominator,
    integer(0),
  )
