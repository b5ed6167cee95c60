import type { PBool, PByteString, PData, PInt, PLam } from '@harmoniclabs/plu-ts'
import { both, constr, every, none, not, some } from '../../core/data.js'
import * as p from '../../core/term.js'
import { isEmpty } from '../records.js'
import {
  argumentAt,
  elementAt,
  fieldAt,
  isArray,
  isEnd,
  isMap,
  isString,
  stringAt,
  withArray,
  withMap,
} from './read.js'
import { isThere } from './references.js'
import { nowhere, shortString, skip } from './skip.js'
import { hashOfScript } from './witness-set.js'

/*
 * Addresses as bytes (CIP-19): the first byte is sixteen times the type, and the network.
 */

const typeOf = (address: p.Bytes): p.Int =>
  p.divideInteger(p.indexByteString(address, p.integer(0)), p.integer(16))

export const networkOf = (address: p.Bytes): p.Int =>
  p.modInteger(p.indexByteString(address, p.integer(0)), p.integer(16))

/** Whether bytes are an address with two credentials or, without a pointer, with one. */
export const isAddress = p.define<PByteString, PBool>((address) =>
  p.scope(function* () {
    const type = yield* p.bind(typeOf(address))
    const hasLength = (length: number): p.Bool =>
      p.equalsInteger(p.lengthOfByteString(address), p.integer(length))
    return p.choose(
      p.lessThanInteger(type, p.integer(4)),
      hasLength(57),
      every(p.lessThanInteger(p.integer(5), type), p.lessThanInteger(type, p.integer(8)), hasLength(29)),
    )
  }),
)

/** The `Address` that bytes stand for, with a staking part by its type. */
export const addressData = p.define<PByteString, PData>((address) =>
  p.scope(function* () {
    const type = yield* p.bind(typeOf(address))
    const credential = (isScript: p.Bool, hash: p.Bytes): p.Data =>
      p.scope(function* () {
        const content = yield* p.bind(p.bData(hash))
        return p.choose(isScript, constr(1, content), constr(0, content))
      })
    return constr(
      0,
      credential(p.equalsInteger(p.modInteger(type, p.integer(2)), p.integer(1)), paymentHashIn(address)),
      p.choose(
        p.lessThanInteger(type, p.integer(4)),
        some(
          constr(
            0,
            credential(
              p.lessThanInteger(p.integer(1), type),
              p.sliceByteString(p.integer(29), p.integer(28), address),
            ),
          ),
        ),
        none(),
      ),
    )
  }),
)

/** Whether an address is that of a script, without a staking part. */
export const isPlaceOf = p.defineOf<[PByteString, PByteString], PBool>(2, (address, script) =>
  both(p.equalsByteString(paymentHashIn(address), script), p.equalsInteger(typeOf(address), p.integer(7))),
)

/*
 * Transaction outputs, in the array form of the Shelley era or the map form since Babbage:
 * `[address, value, datum hash]` or `{0: address, 1: value, 2: datum, 3: reference script}`.
 */

const isMapOutput = (output: p.Bytes): p.Bool => isMap(p.indexByteString(output, p.integer(0)))

export const addressIn = p.defineOf<[PByteString], PByteString>(1, (output) =>
  stringAt(
    output,
    p.choose(
      isMapOutput(output),
      fieldAt(output, p.integer(0), 0),
      elementAt(output, p.integer(0), p.integer(0)),
    ),
  ),
)

/** The hash of the datum of an output; fails for an inline datum, and without one. */
export const datumHashIn = (output: p.Bytes): p.Bytes =>
  p.choose(
    isMapOutput(output),
    withArray(output, fieldAt(output, p.integer(0), 2), (_size, kind) =>
      p.choose(
        p.equalsInteger(argumentAt(output, kind), p.integer(0)),
        stringAt(output, skip(output, p.integer(1), kind)),
        p.fail(),
      ),
    ),
    stringAt(output, elementAt(output, p.integer(0), p.integer(2))),
  )

/** The hash of the payment credential in an address since the Shelley era. */
export const paymentHashIn = (address: p.Bytes): p.Bytes =>
  p.sliceByteString(p.integer(1), p.integer(28), address)

/** Whether a key unlocks an address (CIP-19 types 0, 2, 4, 6), or a script (1, 3, 5, 7); no Byron address. */
export const isLockedBy = (credential: 'key' | 'script', address: p.Bytes): p.Bool =>
  p.scope(function* () {
    const header = yield* p.bind(p.indexByteString(address, p.integer(0)))
    const type = yield* p.bind(p.modInteger(header, p.integer(32)))
    const isKey = p.lessThanInteger(type, p.integer(16))
    return both(p.lessThanInteger(header, p.integer(128)), credential === 'key' ? isKey : not(isKey))
  })

/** By additional information: the length of a head; 1 where there is no such head. */
const headLengths = Uint8Array.from({ length: 32 }, (_, info) =>
  info > 23 && info < 28 ? 1 + 2 ** (info - 24) : 1,
)

const behindHead = p.defineOf<[PByteString, PInt], PInt>(2, (cbor, place) =>
  p.addInteger(
    place,
    p.indexByteString(p.bytes(headLengths), p.modInteger(p.indexByteString(cbor, place), p.integer(32))),
  ),
)

/** Whether the item with this first byte has a tag. */
const isTag = (first: p.Int): p.Bool => p.equalsInteger(p.divideInteger(first, p.integer(32)), p.integer(6))

/**
 * Whether a script, by its hash, is the reference script of a well-formed output: a tag before a byte string
 * that holds `[language, script]`. Other content never fails, and all scripts cost the same.
 */
export const refersTo = p.defineOf<[PByteString, PByteString], PBool>(2, (output, hash) =>
  p.scope(function* () {
    const place = yield* p.bind(
      p.choose(isMapOutput(output), fieldAt(output, p.integer(0), 3), p.integer(nowhere)),
    )
    return every(
      isThere(place),
      isTag(p.indexByteString(output, place)),
      p.scope(function* () {
        const string = yield* p.bind(behindHead(output, place))
        return both(isString(p.indexByteString(output, string)), isScript(stringAt(output, string), hash))
      }),
    )
  }),
)

/** More than the heads before a script may have. */
const padding = new Uint8Array(3 * 9)

/** Whether bytes are `[language, script]` of a hash, if they are that of any. */
const isScript = (tagged: p.Bytes, hash: p.Bytes): p.Bool =>
  p.scope(function* () {
    const content = yield* p.bind(tagged)
    const padded = yield* p.bind(p.appendByteString(content, p.bytes(padding)))
    const behindLanguage = yield* p.bind(behindHead(padded, behindHead(padded, p.integer(0))))
    // Of numbers below 24, the last byte of a head is the number in all of them.
    const language = yield* p.bind(p.indexByteString(padded, p.subtractInteger(behindLanguage, p.integer(1))))
    const start = yield* p.bind(
      p.choose(p.equalsInteger(language, p.integer(0)), behindLanguage, behindHead(padded, behindLanguage)),
    )
    const isOpen = p.equalsInteger(p.indexByteString(padded, p.integer(0)), p.integer(0x9f))
    const end = p.subtractInteger(p.lengthOfByteString(content), p.choose(isOpen, p.integer(1), p.integer(0)))
    return p.equalsByteString(
      hashOfScript(language, p.sliceByteString(start, p.subtractInteger(end, start), content)),
      hash,
    )
  })

/*
 * Outputs and values, in both forms that the ledger has of each. Policies and asset names are compared as
 * they are encoded, so that any other encoding than the shortest one fails.
 */

/** The fields of an output in its map form, by their key in the CDDL. */
const OutputField = { address: 0, value: 1, referenceScript: 3 } as const

export const addressAt = (cbor: p.Bytes, output: p.Int): p.Int =>
  partAt(cbor, output, OutputField.address, (first) => first)

/** Where the value of an output is. In the common forms, it follows the address without a search. */
export const valueAt = p.defineOf<[PByteString, PInt], PInt>(2, (cbor, output) =>
  p.choose(
    isMap(p.indexByteString(cbor, output)),
    p.scope(function* () {
      const addressKey = p.addInteger(output, p.integer(1))
      const key = yield* p.bind(
        p.choose(
          p.equalsInteger(p.indexByteString(cbor, addressKey), p.integer(OutputField.address)),
          behindString(cbor, p.addInteger(output, p.integer(2))),
          addressKey,
        ),
      )
      return p.choose(
        p.equalsInteger(p.indexByteString(cbor, key), p.integer(OutputField.value)),
        p.addInteger(key, p.integer(1)),
        fieldAt(cbor, output, OutputField.value),
      )
    }),
    withArray(cbor, output, (_count, first) => behindString(cbor, first)),
  ),
)

/** The place behind an item, which is mostly a string of 24 to 255 bytes. */
const behindString = (cbor: p.Bytes, place: p.Int): p.Int =>
  p.scope(function* () {
    const start = yield* p.bind(place)
    return p.choose(
      p.equalsInteger(p.indexByteString(cbor, start), p.integer(shortString)),
      p.addInteger(
        p.addInteger(start, p.integer(2)),
        p.indexByteString(cbor, p.addInteger(start, p.integer(1))),
      ),
      skip(cbor, p.integer(1), start),
    )
  })

/** Where the reference script of an output is: tag 24 and a byte string; {@link nowhere} without one. */
export const referenceScriptAt = (cbor: p.Bytes, output: p.Int): p.Int =>
  partAt(cbor, output, OutputField.referenceScript, () => p.integer(nowhere))

const partAt = (cbor: p.Bytes, output: p.Int, field: number, inArray: (first: p.Int) => p.Int): p.Int =>
  p.scope(function* () {
    const place = yield* p.bind(output)
    return p.choose(
      isMap(p.indexByteString(cbor, place)),
      fieldAt(cbor, place, field),
      withArray(cbor, place, (_count, first) => inArray(first)),
    )
  })

export const lovelaceAt = p.defineOf<[PByteString, PInt], PInt>(2, (cbor, value) =>
  p.choose(
    isArray(p.indexByteString(cbor, value)),
    withArray(cbor, value, (_count, first) => argumentAt(cbor, first)),
    argumentAt(cbor, value),
  ),
)

/** The quantity of an asset in the value at a place: policy and name as CBOR; an empty policy for ada. */
export const quantityIn = p.defineOf<[PByteString, PByteString, PByteString, PInt], PInt>(
  4,
  (policy, name, cbor, value) =>
    p.choose(
      isEmpty(policy),
      lovelaceAt(cbor, value),
      p.choose(
        isArray(p.indexByteString(cbor, value)),
        withArray(cbor, value, (_count, first) =>
          quantityOf(policy, name, cbor, skip(cbor, p.integer(1), first)),
        ),
        p.integer(0),
      ),
    ),
)

/** The quantity of an asset in a map of policies to maps of names to quantities: negative where burned. */
export const quantityOf = (policy: p.Bytes, name: p.Bytes, cbor: p.Bytes, assets: p.Int): p.Int =>
  p.scope(function* () {
    const names = yield* p.bind(valueUnder(cbor, assets, policy))
    const quantity = yield* p.bind(
      p.choose(isThere(names), valueUnder(cbor, names, name), p.integer(nowhere)),
    )
    return p.choose(
      isThere(quantity),
      p.scope(function* () {
        const argument = yield* p.bind(argumentAt(cbor, quantity))
        return p.choose(
          p.lessThanInteger(p.indexByteString(cbor, quantity), p.integer(0x20)),
          argument,
          p.subtractInteger(p.integer(-1), argument),
        )
      }),
      p.integer(0),
    )
  })

/** The place of the value under a key of up to 255 bytes; {@link nowhere} without the key. */
const valueUnder = p.defineOf<[PByteString, PInt, PByteString], PInt>(3, (cbor, map, key) =>
  withMap(cbor, map, (count, first) =>
    p.call<PInt>(
      p.fixed<PInt, PLam<PInt, PInt>>((self, left) =>
        p.lambda((place) =>
          p.choose(
            isEnd(cbor, left, place),
            p.integer(nowhere),
            p.scope(function* () {
              const length = yield* p.bind(shortStringLength(cbor, place))
              const behind = yield* p.bind(p.addInteger(place, length))
              return p.choose(
                p.equalsByteString(p.sliceByteString(place, length, cbor), key),
                behind,
                p.call<PInt>(self(p.subtractInteger(left, p.integer(1))), skip(cbor, p.integer(1), behind)),
              )
            }),
          ),
        ),
      ),
      count,
      first,
    ),
  ),
)

/** The length of a byte string with its shortest head; fails for any other item, and over 255 bytes. */
const shortStringLength = (cbor: p.Bytes, place: p.Int): p.Int =>
  p.scope(function* () {
    const first = yield* p.bind(p.indexByteString(cbor, place))
    return p.choose(
      both(p.lessThanInteger(p.integer(0x3f), first), p.lessThanInteger(first, p.integer(0x58))),
      p.subtractInteger(first, p.integer(0x3f)),
      p.choose(
        p.equalsInteger(first, p.integer(0x58)),
        p.scope(function* () {
          const length = yield* p.bind(p.indexByteString(cbor, p.addInteger(place, p.integer(1))))
          return p.choose(
            p.lessThanInteger(p.integer(23), length),
            p.addInteger(length, p.integer(2)),
            p.fail(),
          )
        }),
        p.fail(),
      ),
    )
  })

export const sumOver = (cbor: p.Bytes, array: p.Int, each: (place: p.Int) => p.Int): p.Int =>
  withArray(cbor, array, (count, first) =>
    p.call<PInt>(
      p.recursive<PInt, PLam<PInt, PInt>>((self, left) =>
        p.lambda((place) =>
          p.choose(
            isEnd(cbor, left, place),
            p.integer(0),
            p.addInteger(
              each(place),
              p.call<PInt>(self(p.subtractInteger(left, p.integer(1))), skip(cbor, p.integer(1), place)),
            ),
          ),
        ),
      )(count),
      first,
    ),
  )
