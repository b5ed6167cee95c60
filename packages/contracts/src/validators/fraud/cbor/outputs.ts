import type { PBool, PByteString } from '@harmoniclabs/plu-ts'
import {
  equalsByteString,
  equalsInteger,
  fail,
  indexByteString,
  integer,
  lessThanInteger,
  modInteger,
  sliceByteString,
} from '../../core/builtins.js'
import { both, not } from '../../core/data.js'
import { type Bool, type Bytes, bind, choose, defineOf, scope } from '../../core/term.js'
import { hashOfScript } from '../witness/witness-set.js'
import { argumentAt, elementAt, fieldAt, isMap, stringAt, withArray, withHead } from './read.js'
import { isThere } from './references.js'
import { itemBytes, nowhere, skip } from './skip.js'

/*
 * Transaction outputs, in the array form of the Shelley era or the map form since Babbage:
 * `[address, value, datum hash]` or `{0: address, 1: value, 2: datum, 3: reference script}`.
 */

const isMapOutput = (output: Bytes): Bool => isMap(indexByteString(output, integer(0)))

/** The address of an output. */
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

/**
 * Whether a key unlocks an address (CIP-19 types 0, 2, 4 and 6), or a script (1, 3, 5 and 7). Of Byron
 * addresses, neither is true.
 */
export const isLockedBy = (credential: 'key' | 'script', address: Bytes): Bool =>
  scope(function* () {
    const header = yield* bind(indexByteString(address, integer(0)))
    const type = yield* bind(modInteger(header, integer(32)))
    const isKey = lessThanInteger(type, integer(16))
    return both(lessThanInteger(header, integer(128)), credential === 'key' ? isKey : not(isKey))
  })

/**
 * Whether a script, by its hash, is the reference script of an output: tag 24 before a byte string that holds
 * `[language, script]`.
 */
export const refersTo = defineOf<[PByteString, PByteString], PBool>(2, (output, hash) =>
  scope(function* () {
    const place = yield* bind(choose(isMapOutput(output), fieldAt(output, integer(0), 3), integer(nowhere)))
    return both(
      isThere(place),
      withHead(output, place, (_tag, encoded) =>
        scope(function* () {
          const content = yield* bind(stringAt(output, encoded))
          return withArray(content, integer(0), (_size, kind) =>
            scope(function* () {
              const language = yield* bind(argumentAt(content, kind))
              const script = yield* bind(skip(content, integer(1), kind))
              const read = choose(
                equalsInteger(language, integer(0)),
                itemBytes(content, script),
                stringAt(content, script),
              )
              return equalsByteString(hashOfScript(language, read), hash)
            }),
          )
        }),
      ),
    )
  }),
)
