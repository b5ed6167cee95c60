import { type DecodeError, isDecodeError } from '../errors.js'
import { type CborReader, Major } from './reader.js'

/** The tag of mathematical sets, which the ledger takes before every set and asks for nowhere. */
export const SET_TAG = 258
/** The tag of CBOR inside a byte string. */
const ENCODED_CBOR_TAG = 24

/** Adds a step to the path of a decoding error on its way out; any other error passes as it is. */
export function located(error: unknown, step: string): unknown {
  return isDecodeError(error) ? error.within(step) : error
}

/** An array of any length, definite or indefinite. */
export function readList<T>(reader: CborReader, readItem: (reader: CborReader) => T): T[] {
  const count = reader.readArray()
  const items: T[] = []
  try {
    while (reader.hasNext(count, items.length)) items.push(readItem(reader))
  } catch (error) {
    throw located(error, `[${items.length}]`)
  }
  return items
}

/** The same with tag 258 before it or not. */
export function readTaggedList<T>(reader: CborReader, readItem: (reader: CborReader) => T): T[] {
  skipSetTag(reader)
  return readList(reader, readItem)
}

/**
 * A set, tagged or not: a list in which no member occurs twice.
 *
 * @param key equal exactly where two members are
 */
export function readSet<T>(
  reader: CborReader,
  readItem: (reader: CborReader) => T,
  key: (item: T) => string,
): T[] {
  const start = reader.position
  const items = readTaggedList(reader, readItem)
  const duplicate = items.length > 1 ? indexOfDuplicate(items, key) : -1
  if (duplicate >= 0) throw duplicateMember(reader, start, duplicate)
  return items
}

function indexOfDuplicate<T>(items: readonly T[], key: (item: T) => string): number {
  const seen = new Set<string>()
  return items.findIndex((item) => seen.size === seen.add(key(item)).size)
}

function duplicateMember(reader: CborReader, start: number, index: number): DecodeError {
  const again = reader.within(start, reader.end)
  skipSetTag(again)
  again.readArray()
  for (let i = 0; i < index; i++) again.skip()
  return again.error('duplicate', 'a member that the set has already').within(`[${index}]`)
}

/** Throws where a collection has no member though its presence promises some. */
export function nonEmpty<T extends { readonly length: number } | { readonly size: number }>(
  reader: CborReader,
  start: number,
  collection: T,
): T {
  const size = 'length' in collection ? collection.length : collection.size
  if (size === 0) throw reader.error('empty', 'nothing inside, where it may only be left out', start)
  return collection
}

/**
 * A map without duplicate keys.
 *
 * @param readKey gives the key in a form whose equality is the key's
 */
export function readMapOf<K extends string | number | bigint, V>(
  reader: CborReader,
  readKey: (reader: CborReader) => K,
  readValue: (reader: CborReader, key: K) => V,
): Map<K, V> {
  const count = reader.readMap()
  const entries = new Map<K, V>()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const start = reader.position
    const key = readKey(reader)
    if (entries.has(key)) throw reader.error('duplicate', `the key ${key} twice`, start)
    try {
      entries.set(key, readValue(reader, key))
    } catch (error) {
      throw located(error, `[${key}]`)
    }
  }
  return entries
}

/**
 * Whether a map is next, though not one whose size takes eight bytes: that token of cborg is a kind of its own, which the ledger
 * overlooks where it chooses between two forms.
 */
export function isShortMap(reader: CborReader): boolean {
  return reader.peekMajor() === Major.map && reader.peek() !== 0xbb
}

/** An array whose items differ: reads what `read` reads, and throws unless that was all of it. */
export function readRecord<T>(reader: CborReader, size: number, read: (reader: CborReader) => T): T {
  const start = reader.position
  const count = reader.readArray()
  if (count >= 0 && count !== size) {
    throw reader.error('unexpected-size', `an array of ${count} items instead of ${size}`, start)
  }
  const record = read(reader)
  reader.leaveArray(count, size, start)
  return record
}

/** What may follow the number at the head of an array, by that number: the array's size in all, and how to read the rest. */
export type Variants<T> = readonly (readonly [size: number, read: (reader: CborReader) => T] | undefined)[]

/**
 * An array whose first item, a number, says what the others are.
 *
 * @param what a name for the thing, for errors
 */
export function readVariant<T>(reader: CborReader, what: string, variants: Variants<T>): T {
  const start = reader.position
  const count = reader.readArray()
  const variant = reader.readUint()
  const layout = variants[variant]
  if (layout === undefined) throw reader.error('unknown-variant', `${what} of kind ${variant}`, start)
  const [size, read] = layout
  if (count >= 0 && count !== size) {
    throw reader.error('unexpected-size', `an array of ${count} items instead of ${size}`, start)
  }
  const result = read(reader)
  reader.leaveArray(count, size, start)
  return result
}

/** What a null stands for the absence of. */
export function readNullable<T>(reader: CborReader, read: (reader: CborReader) => T): T | undefined {
  return reader.tryNull() ? undefined : read(reader)
}

/** Consumes a tag that may be there or not; another tag in its place is refused. */
export function skipTag(reader: CborReader, tag: number): void {
  if (reader.peekMajor() === Major.tag) expectTag(reader, tag)
}

export function expectTag(reader: CborReader, tag: number): void {
  const start = reader.position
  const actual = reader.readTag()
  if (actual !== tag) throw reader.error('unexpected-tag', `tag ${actual} instead of ${tag}`, start)
}

export function skipSetTag(reader: CborReader): void {
  skipTag(reader, SET_TAG)
}

/** CBOR inside a byte string (tag 24): what `read` reads must fill it. */
export function readEncoded<T>(reader: CborReader, read: (inner: CborReader) => T): T {
  expectTag(reader, ENCODED_CBOR_TAG)
  const content = reader.readBytes()
  const end = reader.position
  // On the same bytes, so that offsets count from the start of all.
  const inner = reader.within(end - content.length, end)
  const result = read(inner)
  inner.assertEnd()
  return result
}
