import { Decoder, Encoder, Tag } from 'cbor-x'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { bigintOf, concatBytes, fromHex, toHex } from './bytes.js'
import { isDecodeError } from './errors.js'
import { CborReader, Major } from './reader.js'
import { assertWellFormed, isWellFormed } from './well-formed.js'
import { CborWriter } from './writer.js'

// The native string extractor of cbor-x 1.6.8 fails on valid 8262c2805b0000000000000000, unlike its
// JavaScript.
vi.hoisted(() => {
  process.env.CBOR_NATIVE_ACCELERATION_DISABLED = 'true'
})

/*
 * cbor-x is the independent second opinion: where it and this package both implement RFC 8949, they must
 * agree. Where they differ on purpose, the tests below name the difference, and any other difference fails
 * them.
 */

/** A decoded item, in one form for both decoders: all numbers that are integers are bigints. */
type Item =
  | bigint
  | number
  | string
  | boolean
  | null
  | undefined
  | Uint8Array
  | readonly Item[]
  | { readonly pairs: readonly (readonly [Item, Item])[] }
  | { readonly tag: number; readonly content: Item }

const decoder = new Decoder({ mapsAsObjects: false, useRecords: false })
const encoder = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false })

/** Well-formed CBOR that cbor-x refuses or reads as something else. */
const features = [
  /** cbor-x refuses strings in chunks. */
  'indefinite-length string',
  /** cbor-x refuses simple values other than false, true, null and undefined. */
  'other simple value',
  /** cbor-x replaces invalid UTF-8 by U+FFFD. This package refuses it in `readText`, as the ledger does. */
  'invalid UTF-8',
  /** cbor-x interprets many tags, and refuses those above 32 bits. */
  'tag other than bignums and those of Cardano',
  /** cbor-x reads a bignum of anything but bytes as a number. */
  'bignum without a byte string',
  /** cbor-x returns a `Map`, in which the last of several equal keys remains. */
  'duplicate key',
] as const
type Feature = (typeof features)[number]

/** Malformed CBOR that cbor-x accepts: a break as a value, and two-byte simple values below 32. */
const lenient = ['CBOR_UNEXPECTED_BREAK', 'CBOR_INVALID_SIMPLE_VALUE']

const isCardanoTag = (tag: number): boolean =>
  tag === 24 || tag === 30 || tag === 102 || (tag > 120 && tag < 128) || (tag > 1279 && tag < 1401)

/** Reads any item with this package's reader, and notes the features that cbor-x lacks. */
function readItem(reader: CborReader, noted: Set<Feature>): Item {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return reader.readInt()
    case Major.bytes:
    case Major.text:
      return readString(reader, noted)
    case Major.array: {
      const count = reader.readArray()
      const items: Item[] = []
      while (reader.hasNext(count, items.length)) items.push(readItem(reader, noted))
      return items
    }
    case Major.map: {
      const count = reader.readMap()
      const entries: [Item, Item][] = []
      while (reader.hasNext(count, entries.length))
        entries.push([readItem(reader, noted), readItem(reader, noted)])
      if (new Set(entries.map(([key]) => show(key))).size < entries.length) noted.add('duplicate key')
      return { pairs: entries }
    }
    case Major.tag: {
      const tag = reader.readTag()
      const content = readItem(reader, noted)
      if (tag === 2 || tag === 3) {
        if (!(content instanceof Uint8Array)) noted.add('bignum without a byte string')
        else return tag === 2 ? bigintOf(content) : -1n - bigintOf(content)
      } else if (!isCardanoTag(tag)) noted.add('tag other than bignums and those of Cardano')
      return { tag, content }
    }
    default:
      return readSimple(reader, noted)
  }
}

function readString(reader: CborReader, noted: Set<Feature>): Item {
  const start = reader.position
  const isText = reader.peekMajor() === Major.text
  if ((reader.peek() & 0x1f) === 31) {
    noted.add('indefinite-length string')
    reader.skip()
    return reader.since(start)
  }
  try {
    return isText ? reader.readText() : reader.readBytes()
  } catch (error) {
    if (!isDecodeError(error) || error.code !== 'CBOR_INVALID_UTF8') throw error
    noted.add('invalid UTF-8')
    return 'invalid'
  }
}

function readSimple(reader: CborReader, noted: Set<Feature>): Item {
  const start = reader.position
  reader.skip()
  const bytes = reader.since(start)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  switch (bytes[0]) {
    case 0xf4:
    case 0xf5:
      return bytes[0] === 0xf5
    case 0xf6:
      return null
    case 0xf7:
      return undefined
    case 0xf9:
      return integral(halfFloat(view.getUint16(1)))
    case 0xfa:
      return integral(view.getFloat32(1))
    case 0xfb:
      return integral(view.getFloat64(1))
    default:
      noted.add('other simple value')
      return 'simple'
  }
}

/** RFC 8949, appendix D. */
function halfFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const mantissa = half & 0x3ff
  if (exponent === 0) return sign * mantissa * 2 ** -24
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (mantissa + 1024) * 2 ** (exponent - 25)
}

const integral = (value: number): Item => (Number.isInteger(value) ? BigInt(value) : value)

/** The decoded item of cbor-x, in the common form. */
function normalized(value: unknown): Item {
  if (typeof value === 'number') return integral(value)
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map(normalized)
  if (value instanceof Map)
    return { pairs: [...value].map(([key, item]) => [normalized(key), normalized(item)] as const) }
  if (value instanceof Tag) return { tag: value.tag, content: normalized(value.value) }
  return value as Item
}

/** A text that is equal for equal items. */
function show(item: Item): string {
  if (item instanceof Uint8Array) return `h'${toHex(item)}'`
  if (Array.isArray(item)) return `[${item.map(show)}]`
  if (typeof item === 'bigint') return `${item}`
  if (typeof item === 'number') return `float ${item}`
  if (typeof item === 'object' && item !== null && 'pairs' in item)
    return `{${item.pairs.map(([key, value]) => `${show(key)}:${show(value)}`)}}`
  if (typeof item === 'object' && item !== null && 'tag' in item) return `${item.tag}(${show(item.content)})`
  return JSON.stringify(item) ?? 'undefined'
}

function decodedByCborX(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: decoder.decode(bytes) }
  } catch {
    return undefined
  }
}

/** Fails unless both decoders agree on the bytes, or differ in one of the ways listed above. */
function compare(bytes: Uint8Array): 'both' | 'neither' | 'different' {
  const theirs = decodedByCborX(bytes)
  try {
    assertWellFormed(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    if (theirs !== undefined) expect(lenient).toContain(error.code)
    return theirs === undefined ? 'neither' : 'different'
  }
  const noted = new Set<Feature>()
  const reader = new CborReader(bytes)
  const ours = readItem(reader, noted)
  reader.assertEnd()
  if (noted.size > 0) return 'different'
  expect(theirs).toBeDefined()
  expect(show(normalized(theirs?.value))).toBe(show(ours))
  return 'both'
}

/** Encodings of one head: the shortest, and every wider one. */
const head = (major: number, argument: bigint, width: number): Uint8Array => {
  const shortest =
    argument < 24n ? 0 : argument < 0x100n ? 1 : argument < 0x1_0000n ? 2 : argument < 2n ** 32n ? 4 : 8
  const size = Math.max(shortest, [0, 1, 2, 4, 8][width] ?? 0)
  const bytes = new Uint8Array(1 + size)
  if (size === 0) bytes[0] = (major << 5) | Number(argument)
  else {
    bytes[0] = (major << 5) | (24 + Math.log2(size))
    bytes.set(fromHex(argument.toString(16).padStart(2 * size, '0')), 1)
  }
  return bytes
}

const width = fc.nat(4)
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const framed = (major: number, argument: number, use: number, ...content: Uint8Array[]): Uint8Array =>
  concatBytes(head(major, BigInt(argument), use), ...content)

/** Items in every encoding of the common subset. */
const { item } = fc.letrec<{ item: Uint8Array }>((tie) => {
  const items = fc.array(tie('item'), { maxLength: 4 })
  return {
    item: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc
        .tuple(fc.constantFrom(0, 1), fc.oneof(uint64, fc.bigInt(0n, 300n)), width)
        .map((parts) => head(...parts)),
      fc
        .tuple(fc.uint8Array({ maxLength: 80 }), width)
        .map(([bytes, use]) => framed(2, bytes.length, use, bytes)),
      fc.tuple(fc.string({ unit: 'binary', maxLength: 80 }), width).map(([text, use]) => {
        const bytes = new TextEncoder().encode(text)
        return framed(3, bytes.length, use, bytes)
      }),
      fc
        .constantFrom('f4', 'f5', 'f6', 'f7', 'f93c00', 'f90001', 'fa47c35000', 'fb7e37e43c8800759c')
        .map(fromHex),
      fc.double().map((value) => concatBytes(Uint8Array.of(0xfb), float64(value))),
      fc
        .tuple(fc.constantFrom(2, 3), fc.uint8Array({ maxLength: 20 }))
        .map(([tag, bytes]) => concatBytes(head(6, BigInt(tag), 0), framed(2, bytes.length, 0, bytes))),
      fc
        .tuple(fc.constantFrom(24, 30, 102, 121, 127, 1280, 1400), fc.nat(3), tie('item'))
        .map(([tag, use, content]) => framed(6, tag, use, content)),
      fc.tuple(items, width).map(([members, use]) => framed(4, members.length, use, ...members)),
      items.map((members) => concatBytes(Uint8Array.of(0x9f), ...members, Uint8Array.of(0xff))),
      fc.tuple(items, width).map(([values, use]) => framed(5, values.length, use, ...keyed(values))),
      items.map((values) => concatBytes(Uint8Array.of(0xbf), ...keyed(values), Uint8Array.of(0xff))),
    ),
  }
})

const keyed = (values: readonly Uint8Array[]): Uint8Array[] =>
  values.map((value, key) => concatBytes(Uint8Array.of(key), value))

function float64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value)
  return bytes
}

describe('cbor-x', () => {
  it('decodes items of every common form as this package does', () => {
    fc.assert(
      fc.property(item, (bytes) => {
        expect(compare(bytes)).toBe('both')
      }),
      { numRuns: 2_000 },
    )
  })

  it('accepts and refuses damaged items as this package does, but for the listed differences', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)), { minLength: 1, maxLength: 3 })
    const seen = { both: 0, neither: 0, different: 0 }
    fc.assert(
      fc.property(item, damage, (bytes, changes) => {
        const damaged = changes.reduce((current, [position, byte, drop]) => {
          const at = position % (current.length + 1)
          return concatBytes(current.subarray(0, at), Uint8Array.of(byte), current.subarray(at + drop))
        }, bytes)
        seen[compare(damaged)]++
      }),
      { numRuns: 5_000 },
    )
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100)
  })

  it('accepts and refuses short inputs as this package does, but for the listed differences', () => {
    for (let first = 0; first < 256; first++) {
      compare(Uint8Array.of(first))
      for (let second = 0; second < 256; second++) compare(Uint8Array.of(first, second))
    }
  })

  it('decodes what CborWriter writes', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
        fc.string({ unit: 'binary' }),
        fc.uint8Array(),
        (number, text, bytes) => {
          const writer = new CborWriter().indefiniteArray().map(1).int(number).text(text)
          const written = writer.tag(121).array(2).bytes(bytes).boolean(true).null().break().toBytes()
          const expected = [{ pairs: [[number, text]] }, { tag: 121, content: [bytes, true] }, null] as const
          expect(show(normalized(decoder.decode(written)))).toBe(show(expected))
        },
      ),
    )
  })

  it('encodes what this package reads', () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
        fc.integer(),
        fc.double(),
        fc.string({ unit: 'binary' }),
        fc.uint8Array(),
        fc.constantFrom(true, false, null, undefined),
        fc.array(tie('value'), { maxLength: 5 }),
        fc
          .array(tie('value'), { maxLength: 5 })
          .map((values) => new Map(values.map((each, key) => [key, each]))),
      ),
    }))
    fc.assert(
      fc.property(value, (value) => {
        const bytes = encoder.encode(value)
        expect(isWellFormed(bytes)).toBe(true)
        expect(show(readItem(new CborReader(bytes), new Set()))).toBe(show(normalized(value)))
      }),
    )
  })

  it.each<[Feature, string]>([
    ['indefinite-length string', '5f4101ff'],
    ['other simple value', 'f0'],
    ['invalid UTF-8', '61ff'],
    ['tag other than bignums and those of Cardano', 'd9010280'],
    ['bignum without a byte string', 'c200'],
    ['duplicate key', 'a201000100'],
  ])('differs on purpose: %s', (feature, hex) => {
    const noted = new Set<Feature>()
    const ours = readItem(new CborReader(fromHex(hex)), noted)
    expect([...noted]).toEqual([feature])
    const theirs = decodedByCborX(fromHex(hex))
    expect(theirs === undefined ? undefined : show(normalized(theirs.value))).not.toBe(show(ours))
  })

  it.each([
    ['CBOR_UNEXPECTED_BREAK', '81ff'],
    ['CBOR_INVALID_SIMPLE_VALUE', 'f814'],
  ])('is lenient where this package throws %s', (code, hex) => {
    expect(() => assertWellFormed(fromHex(hex))).toThrow(expect.objectContaining({ code }))
    expect(decodedByCborX(fromHex(hex))).toBeDefined()
  })
})
