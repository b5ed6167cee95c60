import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  bData,
  boolean,
  bytes,
  consByteString,
  equalsByteString,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  integerToByteString,
  lengthOfByteString,
  lessThanInteger,
  prepend,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import { both, every } from '../../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  defineOf,
  type Int,
  lambda,
  recursive,
  scope,
} from '../../core/term.js'
import { fieldAt, isEnd, untagged, withArray } from './read.js'
import { nowhere } from './skip.js'

/*
 * Output references in transaction bodies. They are compared as bytes with the keys of the header's maps, so
 * any other encoding than the definite and shortest one fails.
 */

/** The first bytes of a reference: an array of two items, and a byte string of 32 bytes. */
const referenceStart = Uint8Array.of(0x82, 0x58, 0x20)
const indexOffset = 35
const breakByte = 0xff

/** The fields of a transaction body that fraud proofs read, by their key in the CDDL. */
export const BodyField = {
  inputs: 0,
  outputs: 1,
  fee: 2,
  invalidHereafter: 3,
  withdrawals: 5,
  auxiliaryDataHash: 7,
  invalidBefore: 8,
  mint: 9,
  scriptDataHash: 11,
  collateralInputs: 13,
  requiredSigners: 14,
  networkId: 15,
  collateralReturn: 16,
  referenceInputs: 18,
} as const

/** The length of the reference at a place: 36 to 38 bytes. Fails unless it has its shortest encoding. */
const referenceLength = defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  choose(
    equalsByteString(sliceByteString(place, integer(referenceStart.length), cbor), bytes(referenceStart)),
    scope(function* () {
      const head = yield* bind(indexByteString(cbor, addInteger(place, integer(indexOffset))))
      const next = indexByteString(cbor, addInteger(place, integer(indexOffset + 1)))
      return choose(
        lessThanInteger(head, integer(24)),
        integer(indexOffset + 1),
        choose(
          both(equalsInteger(head, integer(24)), lessThanInteger(integer(23), next)),
          integer(indexOffset + 2),
          choose(
            both(equalsInteger(head, integer(25)), lessThanInteger(integer(0), next)),
            integer(indexOffset + 3),
            fail(),
          ),
        ),
      )
    }),
    fail(),
  ),
)

/** Whether bytes are a reference in its shortest encoding. Never fails. */
export const isReference = (key: Bytes): Bool =>
  scope(function* () {
    const length = yield* bind(lengthOfByteString(key))
    const isLong = both(
      lessThanInteger(integer(indexOffset), length),
      lessThanInteger(length, integer(indexOffset + 4)),
    )
    const start = sliceByteString(integer(0), integer(referenceStart.length), key)
    const head = indexByteString(key, integer(indexOffset))
    const next = indexByteString(key, integer(indexOffset + 1))
    const hasLength = (extra: number) => equalsInteger(length, integer(indexOffset + 1 + extra))
    return every(
      isLong,
      equalsByteString(start, bytes(referenceStart)),
      choose(
        hasLength(0),
        lessThanInteger(head, integer(24)),
        choose(
          hasLength(1),
          both(equalsInteger(head, integer(24)), lessThanInteger(integer(23), next)),
          both(equalsInteger(head, integer(25)), lessThanInteger(integer(0), next)),
        ),
      ),
    )
  })

/** The reference to an output by transaction id and index; fails for an index over 65,535. */
export const keyOfOutput = (id: Bytes, index: Int): Bytes =>
  scope(function* () {
    const number = yield* bind(index)
    const short = choose(
      lessThanInteger(number, integer(24)),
      integerToByteString(1, number),
      choose(
        lessThanInteger(number, integer(256)),
        consByteString(integer(24), integerToByteString(1, number)),
        consByteString(integer(25), integerToByteString(2, number)),
      ),
    )
    return appendByteString(bytes(referenceStart), appendByteString(id, short))
  })

export const referencesIn = (body: Bytes, field: number): Int =>
  untagged(body, fieldAt(body, integer(0), field))

/** The reference at an index of a set, from 0; fails behind the last. */
export const referenceAt = defineOf<[PByteString, PInt, PInt], PByteString>(3, (body, set, index) =>
  withArray(body, set, (count, first) =>
    choose(
      both(lessThanInteger(integer(-1), count), lessThanInteger(count, addInteger(index, integer(1)))),
      fail(),
      call<PByteString>(
        recursive<PInt, PLam<PInt, PByteString>>((self, left) =>
          lambda((place) =>
            scope(function* () {
              const length = yield* bind(referenceLength(body, place))
              return choose(
                equalsInteger(left, integer(0)),
                sliceByteString(place, length, body),
                call<PByteString>(self(subtractInteger(left, integer(1))), addInteger(place, length)),
              )
            }),
          ),
        )(index),
        first,
      ),
    ),
  ),
)

export const hasReference = defineOf<[PByteString, PInt, PByteString], PBool>(3, (body, set, reference) =>
  scope(function* () {
    const size = yield* bind(lengthOfByteString(reference))
    return withArray(body, set, (count, first) =>
      call<PBool>(
        recursive<PInt, PLam<PInt, PBool>>((self, left) =>
          lambda((place) =>
            choose(
              isEnd(body, left, place),
              boolean(false),
              choose(
                equalsByteString(sliceByteString(place, size, body), reference),
                boolean(true),
                call<PBool>(
                  self(subtractInteger(left, integer(1))),
                  addInteger(place, referenceLength(body, place)),
                ),
              ),
            ),
          ),
        )(count),
        first,
      ),
    )
  }),
)

export const referenceCount = defineOf<[PByteString, PInt], PInt>(2, (body, set) =>
  withArray(body, set, (count, first) =>
    choose(
      lessThanInteger(count, integer(0)),
      recursive<PInt, PInt>((self, place) =>
        choose(
          equalsInteger(indexByteString(body, place), integer(breakByte)),
          integer(0),
          addInteger(integer(1), self(addInteger(place, referenceLength(body, place)))),
        ),
      )(first),
      count,
    ),
  ),
)

/** The references of a set, as bytes, before the items of a list. */
export const keysBefore = defineOf<[PByteString, PInt, PList<PData>], PList<PData>>(3, (body, set, rest) =>
  withArray(body, set, (count, first) =>
    call<PList<PData>>(
      recursive<PInt, PLam<PInt, PList<PData>>>((self, left) =>
        lambda((place) =>
          choose(
            isEnd(body, left, place),
            rest,
            scope(function* () {
              const length = yield* bind(referenceLength(body, place))
              return prepend(
                bData(sliceByteString(place, length, body)),
                call<PList<PData>>(self(subtractInteger(left, integer(1))), addInteger(place, length)),
              )
            }),
          ),
        ),
      )(count),
      first,
    ),
  ),
)

/** Whether a field of a body is there. */
export const isThere = (place: Int) => lessThanInteger(integer(nowhere), place)
