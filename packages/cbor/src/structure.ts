import { toHex } from './bytes.js'
import { type DecodeError, isDecodeError } from './errors.js'
import { CborReader, Major } from './reader.js'

/** The tag of sets. The ledger accepts it before every set and requires it before none. */
const SET_TAG = 258
/** The tag of a byte string that holds an encoded CBOR item (RFC 8949, section 3.4.5.1). */
const ENCODED_CBOR_TAG = 24

/**
 * Adds a step to the path of a decoding error; returns any other error unchanged. For decoders that catch and
 * rethrow:
 *
 * @example
 * try {
 *   fee = reader.readUint64()
 * } catch (error) {
 *   throw located(error, 'fee')
 * }
 */
export function located(error: unknown, step: string): unknown {
  return isDecodeError(error) ? error.within(step) : error
}

/**
 * Reads an array of any length, of definite or indefinite length. The index is added to the path of errors.
 */
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

/** Reads an array like {@link readList}, with or without tag 258 before it. */
export function readTaggedList<T>(reader: CborReader, readItem: (reader: CborReader) => T): T[] {
  skipSetTag(reader)
  return readList(reader, readItem)
}

/**
 * Reads a set, with or without tag 258, as an array in the order of the encoding.
 *
 * @param key maps members to texts that are equal if and only if the members are
 * @throws DecodeError `CBOR_DUPLICATE` if a member occurs twice
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
  return again.error('CBOR_DUPLICATE', 'a set member that occurs twice').within(`[${index}]`)
}

/**
 * Returns the collection if it has a member. The ledger requires that some collections are omitted when they
 * are empty.
 *
 * @param start offset of the collection, for the error
 * @throws DecodeError `CBOR_EMPTY`
 */
export function nonEmpty<T extends { readonly length: number } | { readonly size: number }>(
  reader: CborReader,
  start: number,
  collection: T,
): T {
  const size = 'length' in collection ? collection.length : collection.size
  if (size === 0) throw reader.error('CBOR_EMPTY', 'an empty collection, which must be omitted', start)
  return collection
}

/**
 * Reads a map, in the order of the encoding. The key is added to the path of errors.
 *
 * @param readKey returns the key in a form that is equal if and only if the keys are
 * @throws DecodeError `CBOR_DUPLICATE` if a key occurs twice
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
    if (entries.has(key)) throw reader.error('CBOR_DUPLICATE', `the key ${key} occurs twice`, start)
    try {
      entries.set(key, readValue(reader, key))
    } catch (error) {
      throw located(error, `[${key}]`)
    }
  }
  return entries
}

/**
 * Whether the next item is a map, other than one whose size is encoded in eight bytes. cborg, the decoder of
 * cardano-node, has a token of its own for that encoding (`TypeMapLen64`), which the ledger does not expect
 * where it chooses between an array form and a map form.
 */
export function isShortMap(reader: CborReader): boolean {
  return reader.peekMajor() === Major.map && reader.peek() !== 0xbb
}

/**
 * Reads an array whose items have different types.
 *
 * @param size the required number of items
 * @param read reads all items
 * @throws DecodeError `CBOR_UNEXPECTED_SIZE`
 */
export function readRecord<T>(reader: CborReader, size: number, read: (reader: CborReader) => T): T {
  const start = reader.position
  const count = reader.readArray()
  if (count >= 0 && count !== size) {
    throw reader.error('CBOR_UNEXPECTED_SIZE', `an array of ${count} items instead of ${size}`, start)
  }
  const record = read(reader)
  reader.leaveArray(count, size, start)
  return record
}

/**
 * The layouts of a tagged union, by the number that starts the array: the size of the whole array, and a
 * function that reads the items after the number.
 */
export type Variants<T> = readonly (readonly [size: number, read: (reader: CborReader) => T] | undefined)[]

/**
 * Reads a tagged union: an array that starts with a number, which selects the layout of the rest.
 *
 * @param what names the structure in errors
 * @throws DecodeError `CBOR_UNKNOWN_VARIANT`, `CBOR_UNEXPECTED_SIZE`
 * @example
 * readVariant(reader, 'a credential', [
 *   [2, (r) => ({ kind: 'key', hash: r.readBytesOf(28) })],
 *   [2, (r) => ({ kind: 'script', hash: r.readBytesOf(28) })],
 * ])
 */
export function readVariant<T>(reader: CborReader, what: string, variants: Variants<T>): T {
  const { size, count, start, layout } = enterVariant(reader, what, variants)
  const result = layout(reader)
  reader.leaveArray(count, size, start)
  return result
}

/** A tagged union that is entered: its content is next, then `leaveArray(count, size, start)`. */
export interface EnteredVariant<T> {
  readonly layout: T
  readonly size: number
  readonly count: number
  readonly start: number
}

/**
 * Enters a tagged union, for decoders that do not recurse into its content.
 *
 * @param variants the size of the whole array and a layout, by the number that starts the array
 * @throws DecodeError as {@link readVariant}
 */
export function enterVariant<T>(
  reader: CborReader,
  what: string,
  variants: readonly (readonly [size: number, layout: T] | undefined)[],
): EnteredVariant<T> {
  const start = reader.position
  const count = reader.readArray()
  const variant = reader.readUint()
  const found = variants[variant]
  if (found === undefined) throw reader.error('CBOR_UNKNOWN_VARIANT', `${what} of kind ${variant}`, start)
  const [size, layout] = found
  if (count >= 0 && count !== size) {
    throw reader.error('CBOR_UNEXPECTED_SIZE', `an array of ${count} items instead of ${size}`, start)
  }
  return { layout, size, count, start }
}

/** Reads an item that may be null; undefined if it is. */
export function readNullable<T>(reader: CborReader, read: (reader: CborReader) => T): T | undefined {
  return reader.tryNull() ? undefined : read(reader)
}

/**
 * Reads a tag and checks its number.
 *
 * @throws DecodeError `CBOR_UNEXPECTED_TAG`
 */
export function expectTag(reader: CborReader, tag: number): void {
  const start = reader.position
  const actual = reader.readTag()
  if (actual !== tag) throw reader.error('CBOR_UNEXPECTED_TAG', `tag ${actual} instead of ${tag}`, start)
}

function skipSetTag(reader: CborReader): void {
  if (reader.peekMajor() === Major.tag) expectTag(reader, SET_TAG)
}

/** Reads a CBOR item inside a byte string (tag 24); `read` must consume all of it. */
export function readEncoded<T>(reader: CborReader, read: (inner: CborReader) => T): T {
  expectTag(reader, ENCODED_CBOR_TAG)
  const content = reader.readBytes()
  const end = reader.position
  // Over the same bytes, so that errors report offsets in the whole input.
  const inner = reader.within(end - content.length, end)
  const result = read(inner)
  inner.assertEnd()
  return result
}

/**
 * A text that is equal for two items if and only if they differ at most in their encoding: the width of
 * numbers, definite or indefinite lengths, the order of map keys, and tag 258 before sets. The ledger
 * compares decoded certificates and proposals, not their bytes; so does this.
 *
 * @param item well-formed CBOR of bounded depth: the function is recursive
 */
export function normalForm(item: { readonly bytes: Uint8Array }): string {
  return normalize(new CborReader(item.bytes))
}

function normalize(reader: CborReader): string {
  switch (reader.peekMajor()) {
    case Major.unsigned:
    case Major.negative:
      return String(reader.readInt())
    case Major.bytes:
      return `h${toHex(reader.readBytes())}`
    case Major.text:
      return JSON.stringify(reader.readText())
    case Major.array: {
      const count = reader.readArray()
      const items: string[] = []
      while (reader.hasNext(count, items.length)) items.push(normalize(reader))
      return `[${items}]`
    }
    case Major.map: {
      const count = reader.readMap()
      const entries: string[] = []
      while (reader.hasNext(count, entries.length)) entries.push(`${normalize(reader)}:${normalize(reader)}`)
      return `{${entries.sort()}}`
    }
    case Major.tag: {
      const tag = reader.readTag()
      const content = normalize(reader)
      return tag === SET_TAG ? content : `${tag}(${content})`
    }
    default: {
      const start = reader.position
      reader.skip()
      return `s${toHex(reader.since(start))}`
    }
  }
}
