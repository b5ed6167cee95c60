import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { redeemerOf } from '../../core/context.js'
import { at, both, every, fieldsOf } from '../../core/data.js'
import type { RuleBook } from '../../core/rules.js'
import * as p from '../../core/term.js'
import { argumentAt, elementAt, fieldAt, isEnd, untagged, withArray } from './read.js'
import { itemBytes, nowhere } from './skip.js'

const nothing = (): p.Bytes => p.bytes(new Uint8Array())

/** Items from index 0 up to the first that `read` has no bytes for. */
const collect = (read: (index: p.Int, rest: p.Bytes) => p.Bytes): p.Bytes =>
  p.recursive<PInt, PByteString>((self, index) => read(index, self(p.addInteger(index, p.integer(1)))))(
    p.integer(0),
  )

const references = (body: p.Bytes, set: p.Int): p.Bytes =>
  p.scope(function* () {
    const count = yield* p.bind(referenceCount(body, set))
    return collect((index, rest) =>
      p.choose(
        p.equalsInteger(index, count),
        nothing(),
        p.scope(function* () {
          const reference = yield* p.bind(referenceAt(body, set, index))
          return p.choose(
            hasReference(body, set, reference),
            p.appendByteString(reference, rest),
            // Never: what is at an index is in the set.
            nothing(),
          )
        }),
      ),
    )
  })

/**
 * A test validator that succeeds if it reads a body as the redeemer `[body, reading]` states: the inputs, the
 * reference inputs, the fee in 8 bytes, and the outputs as encoded.
 */
export const readingCheck = (_book: RuleBook, context: p.Data): p.Unit =>
  p.scope(function* () {
    const fields = yield* p.bind(fieldsOf(redeemerOf(context)))
    const body = yield* p.bind(p.unBData(at(fields, 0)))
    const inputs = yield* p.bind(referencesIn(body, BodyField.inputs))
    const referenceInputs = fieldAt(body, p.integer(0), BodyField.referenceInputs)
    const outputs = yield* p.bind(fieldAt(body, p.integer(0), BodyField.outputs))
    const fee = argumentAt(body, fieldAt(body, p.integer(0), BodyField.fee))
    const read = [
      references(body, inputs),
      p.choose(
        isThere(referenceInputs),
        references(body, referencesIn(body, BodyField.referenceInputs)),
        nothing(),
      ),
      p.integerToByteString(8, fee),
      collect((index, rest) =>
        p.scope(function* () {
          const place = yield* p.bind(elementAt(body, outputs, index))
          return p.choose(isThere(place), p.appendByteString(itemBytes(body, place), rest), nothing())
        }),
      ),
    ].reduceRight((rest, part) => p.appendByteString(part, rest))
    // A body whose reading fails is refused; a misread body is traced.
    const reading = yield* p.bind(read)
    return p.choose(
      p.equalsByteString(reading, p.unBData(at(fields, 1))),
      p.unitValue(),
      p.traced('misread', p.fail()),
    )
  })

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
const referenceLength = p.defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  p.choose(
    p.equalsByteString(
      p.sliceByteString(place, p.integer(referenceStart.length), cbor),
      p.bytes(referenceStart),
    ),
    p.scope(function* () {
      const head = yield* p.bind(p.indexByteString(cbor, p.addInteger(place, p.integer(indexOffset))))
      const next = p.indexByteString(cbor, p.addInteger(place, p.integer(indexOffset + 1)))
      return p.choose(
        p.lessThanInteger(head, p.integer(24)),
        p.integer(indexOffset + 1),
        p.choose(
          both(p.equalsInteger(head, p.integer(24)), p.lessThanInteger(p.integer(23), next)),
          p.integer(indexOffset + 2),
          p.choose(
            both(p.equalsInteger(head, p.integer(25)), p.lessThanInteger(p.integer(0), next)),
            p.integer(indexOffset + 3),
            p.fail(),
          ),
        ),
      )
    }),
    p.fail(),
  ),
)

/** Whether bytes are a reference in its shortest encoding. Never fails. */
export const isReference = (key: p.Bytes): p.Bool =>
  p.scope(function* () {
    const length = yield* p.bind(p.lengthOfByteString(key))
    const isLong = both(
      p.lessThanInteger(p.integer(indexOffset), length),
      p.lessThanInteger(length, p.integer(indexOffset + 4)),
    )
    const start = p.sliceByteString(p.integer(0), p.integer(referenceStart.length), key)
    const head = p.indexByteString(key, p.integer(indexOffset))
    const next = p.indexByteString(key, p.integer(indexOffset + 1))
    const hasLength = (extra: number) => p.equalsInteger(length, p.integer(indexOffset + 1 + extra))
    return every(
      isLong,
      p.equalsByteString(start, p.bytes(referenceStart)),
      p.choose(
        hasLength(0),
        p.lessThanInteger(head, p.integer(24)),
        p.choose(
          hasLength(1),
          both(p.equalsInteger(head, p.integer(24)), p.lessThanInteger(p.integer(23), next)),
          both(p.equalsInteger(head, p.integer(25)), p.lessThanInteger(p.integer(0), next)),
        ),
      ),
    )
  })

/** The reference to an output by transaction id and index; fails for an index over 65,535. */
export const keyOfOutput = (id: p.Bytes, index: p.Int): p.Bytes =>
  p.scope(function* () {
    const number = yield* p.bind(index)
    const short = p.choose(
      p.lessThanInteger(number, p.integer(24)),
      p.integerToByteString(1, number),
      p.choose(
        p.lessThanInteger(number, p.integer(256)),
        p.consByteString(p.integer(24), p.integerToByteString(1, number)),
        p.consByteString(p.integer(25), p.integerToByteString(2, number)),
      ),
    )
    return p.appendByteString(p.bytes(referenceStart), p.appendByteString(id, short))
  })

export const referencesIn = (body: p.Bytes, field: number): p.Int =>
  untagged(body, fieldAt(body, p.integer(0), field))

/** The reference at an index of a set, from 0; fails behind the last. */
export const referenceAt = p.defineOf<[PByteString, PInt, PInt], PByteString>(3, (body, set, index) =>
  withArray(body, set, (count, first) =>
    p.choose(
      both(
        p.lessThanInteger(p.integer(-1), count),
        p.lessThanInteger(count, p.addInteger(index, p.integer(1))),
      ),
      p.fail(),
      p.call<PByteString>(
        p.recursive<PInt, PLam<PInt, PByteString>>((self, left) =>
          p.lambda((place) =>
            p.scope(function* () {
              const length = yield* p.bind(referenceLength(body, place))
              return p.choose(
                p.equalsInteger(left, p.integer(0)),
                p.sliceByteString(place, length, body),
                p.call<PByteString>(self(p.subtractInteger(left, p.integer(1))), p.addInteger(place, length)),
              )
            }),
          ),
        )(index),
        first,
      ),
    ),
  ),
)

export const hasReference = p.defineOf<[PByteString, PInt, PByteString], PBool>(3, (body, set, reference) =>
  p.scope(function* () {
    const size = yield* p.bind(p.lengthOfByteString(reference))
    return withArray(body, set, (count, first) =>
      p.call<PBool>(
        p.recursive<PInt, PLam<PInt, PBool>>((self, left) =>
          p.lambda((place) =>
            p.choose(
              isEnd(body, left, place),
              p.boolean(false),
              p.choose(
                p.equalsByteString(p.sliceByteString(place, size, body), reference),
                p.boolean(true),
                p.call<PBool>(
                  self(p.subtractInteger(left, p.integer(1))),
                  p.addInteger(place, referenceLength(body, place)),
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

export const referenceCount = p.defineOf<[PByteString, PInt], PInt>(2, (body, set) =>
  withArray(body, set, (count, first) =>
    p.choose(
      p.lessThanInteger(count, p.integer(0)),
      p.recursive<PInt, PInt>((self, place) =>
        p.choose(
          p.equalsInteger(p.indexByteString(body, place), p.integer(breakByte)),
          p.integer(0),
          p.addInteger(p.integer(1), self(p.addInteger(place, referenceLength(body, place)))),
        ),
      )(first),
      count,
    ),
  ),
)

/** The references of a set, as bytes, before the items of a list. */
export const keysBefore = p.defineOf<[PByteString, PInt, PList<PData>], PList<PData>>(3, (body, set, rest) =>
  withArray(body, set, (count, first) =>
    p.call<PList<PData>>(
      p.recursive<PInt, PLam<PInt, PList<PData>>>((self, left) =>
        p.lambda((place) =>
          p.choose(
            isEnd(body, left, place),
            rest,
            p.scope(function* () {
              const length = yield* p.bind(referenceLength(body, place))
              return p.prepend(
                p.bData(p.sliceByteString(place, length, body)),
                p.call<PList<PData>>(
                  self(p.subtractInteger(left, p.integer(1))),
                  p.addInteger(place, length),
                ),
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
export const isThere = (place: p.Int) => p.lessThanInteger(p.integer(nowhere), place)
