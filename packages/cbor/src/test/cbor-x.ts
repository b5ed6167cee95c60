import { Decoder, Encoder, Tag } from 'cbor-x'
import { expect } from 'vitest'
import { bigintOf, toHex } from '../bytes.js'
import { isDecodeError } from '../errors.js'
import { Major } from '../major.js'
import { CborReader } from '../reader.js'
import { assertWellFormed } from '../well-formed.js'

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

export const decoder = new Decoder({ mapsAsObjects: false, useRecords: false })
export const encoder = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false })

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
export type Feature = (typeof features)[number]

/** Malformed CBOR that cbor-x accepts: a break as a value, and two-byte simple values below 32. */
const lenient = ['CBOR_UNEXPECTED_BREAK', 'CBOR_INVALID_SIMPLE_VALUE']

const isCardanoTag = (tag: number): boolean =>
  tag === 24 || tag === 30 || tag === 102 || (tag > 120 && tag < 128) || (tag > 1279 && tag < 1401)

/** Reads any item with this package's reader, and notes the features that cbor-x lacks. */
export function readItem(reader: CborReader, noted: Set<Feature>): Item {
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
export function normalized(value: unknown): Item {
  if (typeof value === 'number') return integral(value)
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map(normalized)
  if (value instanceof Map)
    return { pairs: [...value].map(([key, item]) => [normalized(key), normalized(item)] as const) }
  if (value instanceof Tag) return { tag: value.tag, content: normalized(value.value) }
  return value as Item
}

/** A text that is equal for equal items. */
export function show(item: Item): string {
  if (item instanceof Uint8Array) return `h'${toHex(item)}'`
  if (Array.isArray(item)) return `[${item.map(show)}]`
  if (typeof item === 'bigint') return `${item}`
  if (typeof item === 'number') return `float ${item}`
  if (typeof item === 'object' && item !== null && 'pairs' in item)
    return `{${item.pairs.map(([key, value]) => `${show(key)}:${show(value)}`)}}`
  if (typeof item === 'object' && item !== null && 'tag' in item) return `${item.tag}(${show(item.content)})`
  return JSON.stringify(item) ?? 'undefined'
}

export function decodedByCborX(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: decoder.decode(bytes) }
  } catch {
    return undefined
  }
}

/** Fails unless both decoders agree on the bytes, or differ in one of the ways listed above. */
export function compare(bytes: Uint8Array): 'both' | 'neither' | 'different' {
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
