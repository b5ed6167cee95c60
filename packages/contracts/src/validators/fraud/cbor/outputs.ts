import type { PBool, PByteString, PInt } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  bytes as constant,
  divideInteger,
  equalsByteString,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanInteger,
  modInteger,
  sliceByteString,
  subtractInteger,
} from '../../core/builtins.js'
import { both, every, not } from '../../core/data.js'
import { type Bool, type Bytes, bind, choose, defineOf, type Int, scope } from '../../core/term.js'
import { argumentAt, elementAt, fieldAt, isMap, isString, stringAt, withArray } from './read.js'
import { isThere } from './references.js'
import { nowhere, skip } from './skip.js'
import { hashOfScript } from './witness-set.js'

/*
 * Transaction outputs, in the array form of the Shelley era or the map form since Babbage:
 * `[address, value, datum hash]` or `{0: address, 1: value, 2: datum, 3: reference script}`.
 */

const isMapOutput = (output: Bytes): Bool => isMap(indexByteString(output, integer(0)))

export const addressIn = defineOf<[PByteString], PByteString>(1, (output) =>
  stringAt(
    output,
    choose(isMapOutput(output), fieldAt(output, integer(0), 0), elementAt(output, integer(0), integer(0))),
  ),
)

/** The hash of the datum of an output; fails for an inline datum, and without one. */
export const datumHashIn = (output: Bytes): Bytes =>
  choose(
    isMapOutput(output),
    withArray(output, fieldAt(output, integer(0), 2), (_size, kind) =>
      choose(
        equalsInteger(argumentAt(output, kind), integer(0)),
        stringAt(output, skip(output, integer(1), kind)),
        fail(),
      ),
    ),
    stringAt(output, elementAt(output, integer(0), integer(2))),
  )

/** The hash of the payment credential in an address since the Shelley era. */
export const paymentHashIn = (address: Bytes): Bytes => sliceByteString(integer(1), integer(28), address)

/** Whether a key unlocks an address (CIP-19 types 0, 2, 4, 6), or a script (1, 3, 5, 7); no Byron address. */
export const isLockedBy = (credential: 'key' | 'script', address: Bytes): Bool =>
  scope(function* () {
    const header = yield* bind(indexByteString(address, integer(0)))
    const type = yield* bind(modInteger(header, integer(32)))
    const isKey = lessThanInteger(type, integer(16))
    return both(lessThanInteger(header, integer(128)), credential === 'key' ? isKey : not(isKey))
  })

/** By additional information: the length of a head; 1 where there is no such head. */
const headLengths = Uint8Array.from({ length: 32 }, (_, info) =>
  info > 23 && info < 28 ? 1 + 2 ** (info - 24) : 1,
)

const behindHead = defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  addInteger(
    place,
    indexByteString(constant(headLengths), modInteger(indexByteString(cbor, place), integer(32))),
  ),
)

/** Whether the item with this first byte has a tag. */
const isTag = (first: Int): Bool => equalsInteger(divideInteger(first, integer(32)), integer(6))

/**
 * Whether a script, by its hash, is the reference script of a well-formed output: a tag before a byte string
 * that holds `[language, script]`. Other content never fails, and all scripts cost the same.
 */
export const refersTo = defineOf<[PByteString, PByteString], PBool>(2, (output, hash) =>
  scope(function* () {
    const place = yield* bind(choose(isMapOutput(output), fieldAt(output, integer(0), 3), integer(nowhere)))
    return every(
      isThere(place),
      isTag(indexByteString(output, place)),
      scope(function* () {
        const string = yield* bind(behindHead(output, place))
        return both(isString(indexByteString(output, string)), isScript(stringAt(output, string), hash))
      }),
    )
  }),
)

/** More than the heads before a script may have. */
const padding = new Uint8Array(3 * 9)

/** Whether bytes are `[language, script]` of a hash, if they are that of any. */
const isScript = (tagged: Bytes, hash: Bytes): Bool =>
  scope(function* () {
    const content = yield* bind(tagged)
    const padded = yield* bind(appendByteString(content, constant(padding)))
    const behindLanguage = yield* bind(behindHead(padded, behindHead(padded, integer(0))))
    // Of numbers below 24, the last byte of a head is the number in all of them.
    const language = yield* bind(indexByteString(padded, subtractInteger(behindLanguage, integer(1))))
    const start = yield* bind(
      choose(equalsInteger(language, integer(0)), behindLanguage, behindHead(padded, behindLanguage)),
    )
    const isOpen = equalsInteger(indexByteString(padded, integer(0)), integer(0x9f))
    const end = subtractInteger(lengthOfByteString(content), choose(isOpen, integer(1), integer(0)))
    return equalsByteString(
      hashOfScript(language, sliceByteString(start, subtractInteger(end, start), content)),
      hash,
    )
  })
