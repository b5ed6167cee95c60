import { bigintOf, plainBytes } from './bytes.js'
import { CborError, DecodeError, type DecodeErrorCode } from './errors.js'
import {
  type CborLimits,
  defaultLimits,
  endOfInput,
  readArgument,
  reserved,
  walkItem,
} from './well-formed.js'

/** Major types (RFC 8949, section 3.1). */
export const Major = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  simple: 7,
} as const

/** As errors name them. */
const majorNames = [
  'an unsigned integer',
  'a negative integer',
  'a byte string',
  'a text',
  'an array',
  'a map',
  'a tag',
  'a simple value or float',
] as const

const maxInt64 = 2n ** 63n - 1n
// Fatal, because the ledger refuses invalid UTF-8. A byte order mark is an ordinary character.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads CBOR item by item, for decoders that know the structure they expect.
 *
 * It accepts a number in any width, as cardano-node does. It copies nothing: byte strings are views of the
 * input, so leave the input unchanged while you use them. Every method throws {@link DecodeError} or
 * {@link CborError} if the next item is not what the method reads; the reader's position is then unspecified.
 *
 * `readArray` and `readMap` return the number of items or entries, -1 if indefinite; `hasNext` takes both.
 *
 * @example
 * const reader = new CborReader(bytes)
 * const count = reader.readArray()
 * for (let i = 0; reader.hasNext(count, i); i++) console.log(reader.readUint())
 * reader.assertEnd()
 */
export class CborReader {
  /** The whole input. */
  readonly bytes: Uint8Array
  /** Offset of the next item. */
  position: number
  /** Offset at which this reader's part of the input ends. */
  readonly end: number
  readonly limits: CborLimits

  /**
   * @param start offset of the first item
   * @param end offset at which to stop
   * @param limits of what `skip` passes over; `maxLength` is not checked
   */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length, limits: CborLimits = defaultLimits) {
    this.bytes = plainBytes(bytes)
    this.position = start
    this.end = end
    this.limits = limits
  }

  /** A reader of the input from offset `start` to `end`. Errors report offsets in the whole input. */
  within(start: number, end: number): CborReader {
    return new CborReader(this.bytes, start, end, this.limits)
  }

  /** The initial byte of the next item, without consuming it. */
  peek(): number {
    if (this.position >= this.end) throw endOfInput(this.end)
    return this.bytes[this.position] as number
  }

  /** The major type of the next item, without consuming it. */
  peekMajor(): number {
    return this.peek() >> 5
  }

  /** A view of the input from offset `start` to the current position. */
  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.position)
  }

  /** Reads an unsigned integer up to `max`, which is at most 2^53 − 1. */
  readUint(max: number = Number.MAX_SAFE_INTEGER): number {
    const start = this.position
    const value = this.#argument(Major.unsigned)
    if (value < 0) throw reserved(start)
    if (value > max) throw this.error('CBOR_OUT_OF_RANGE', `a number greater than ${max}`, start)
    return value
  }

  /** Reads an unsigned integer of up to 64 bits. */
  readUint64(): bigint {
    const start = this.position
    const value = this.#argument(Major.unsigned)
    if (value < 0) throw reserved(start)
    return value <= Number.MAX_SAFE_INTEGER ? BigInt(value) : this.#exact(start)
  }

  /** Reads an integer from −2^63 to 2^63 − 1. */
  readInt64(): bigint {
    const start = this.position
    const value = this.readInt()
    if (value > maxInt64 || value < -maxInt64 - 1n) {
      throw this.error('CBOR_OUT_OF_RANGE', 'a number that does not fit into a signed 64-bit integer', start)
    }
    return value
  }

  /** Reads an integer of major type 0 or 1: from −2^64 to 2^64 − 1. */
  readInt(): bigint {
    const start = this.position
    if (this.peekMajor() === Major.unsigned) return this.readUint64()
    const value = this.#argument(Major.negative)
    if (value < 0) throw reserved(start)
    return -1n - (value <= Number.MAX_SAFE_INTEGER ? BigInt(value) : this.#exact(start))
  }

  /**
   * Reads an integer of any size: major type 0 or 1, or a bignum (tag 2 or 3 and a definite-length byte
   * string).
   */
  readInteger(): bigint {
    const initial = this.peek()
    if (initial !== 0xc2 && initial !== 0xc3) return this.readInt()
    this.position++
    const magnitude = bigintOf(this.readBytes())
    return initial === 0xc2 ? magnitude : -1n - magnitude
  }

  /** Reads a definite-length byte string, as a view. */
  readBytes(): Uint8Array {
    const start = this.position
    const length = this.#argument(Major.bytes)
    if (length < 0) throw this.error('CBOR_UNEXPECTED_TYPE', 'an indefinite-length byte string', start)
    return this.#take(length)
  }

  /** Reads a definite-length byte string of exactly `length` bytes, as a view. */
  readBytesOf(length: number): Uint8Array {
    const start = this.position
    const bytes = this.readBytes()
    if (bytes.length !== length) {
      throw this.error('CBOR_UNEXPECTED_SIZE', `${bytes.length} bytes instead of ${length}`, start)
    }
    return bytes
  }

  /** Reads a definite-length text string. */
  readText(): string {
    const start = this.position
    return this.#decode(this.#text(), start)
  }

  /** Reads a definite-length text string as a view of its bytes, which are valid UTF-8. */
  readUtf8(): Uint8Array {
    const start = this.position
    const bytes = this.#text()
    this.#decode(bytes, start)
    return bytes
  }

  /** Enters an array. Returns the number of its items, or -1 for the indefinite-length form. */
  readArray(): number {
    const start = this.position
    const count = this.#argument(Major.array)
    // An item has at least one byte, so the input cannot hold more items than bytes.
    if (count > this.end - this.position)
      throw new CborError('CBOR_END_OF_INPUT', start, `an array of ${count} items`)
    return count
  }

  /** Enters a map. Returns the number of its entries, or -1 for the indefinite-length form. */
  readMap(): number {
    const start = this.position
    const count = this.#argument(Major.map)
    if (count > (this.end - this.position) / 2) {
      throw new CborError('CBOR_END_OF_INPUT', start, `a map of ${count} entries`)
    }
    return count
  }

  /**
   * Whether an array or map that was entered has another item. Consumes the break of the indefinite-length
   * form.
   *
   * @param count what `readArray` or `readMap` returned
   * @param index the number of items (of a map: entries) read so far
   */
  hasNext(count: number, index: number): boolean {
    if (count >= 0) return index < count
    if (this.peek() !== 0xff) return true
    this.position++
    return false
  }

  /**
   * Checks that an array has ended after `size` items.
   *
   * @param count what `readArray` returned
   * @param start offset of the array, for the error
   */
  leaveArray(count: number, size: number, start: number): void {
    if (count >= 0 ? count !== size : this.hasNext(count, size)) {
      throw this.error('CBOR_UNEXPECTED_SIZE', `an array whose length is not ${size}`, start)
    }
  }

  /** Reads a tag number, exact up to 2^53. The tag's content is the next item. */
  readTag(): number {
    const start = this.position
    const tag = this.#argument(Major.tag)
    if (tag < 0) throw reserved(start)
    return tag
  }

  /** Reads `true` or `false`. */
  readBoolean(): boolean {
    const initial = this.peek()
    if (initial !== 0xf4 && initial !== 0xf5) throw this.unexpected('a boolean')
    this.position++
    return initial === 0xf5
  }

  /** Consumes a null if it is the next item, and returns whether it was. */
  tryNull(): boolean {
    if (this.peek() !== 0xf6) return false
    this.position++
    return true
  }

  /**
   * Enters an indefinite-length string of this major type if one is next. Its chunks follow, then a break.
   */
  tryIndefinite(major: number): boolean {
    if (this.peek() !== (major << 5) + 31) return false
    this.position++
    return true
  }

  /** Skips one well-formed item of any type. */
  skip(): void {
    this.position = walkItem(this.bytes, this.position, this.end, this.limits)
  }

  /** Throws `CBOR_TRAILING_BYTES` unless the input is consumed. */
  assertEnd(): void {
    if (this.position < this.end) {
      throw new CborError(
        'CBOR_TRAILING_BYTES',
        this.position,
        `${this.end - this.position} bytes after the item`,
      )
    }
  }

  /** Creates an error at an offset, by default the current position. */
  error(code: DecodeErrorCode, reason: string, offset: number = this.position): DecodeError {
    return new DecodeError(code, offset, reason)
  }

  /** Creates an error that names the type of the next item and what was expected. */
  unexpected(expected: string): DecodeError {
    return this.error('CBOR_UNEXPECTED_TYPE', `${majorNames[this.peekMajor()]} instead of ${expected}`)
  }

  /** Reads a head: its argument, rounded above 2^53, or -1 for the indefinite-length form. */
  #argument(major: number): number {
    const start = this.position
    if (start >= this.end) throw endOfInput(this.end)
    const initial = this.bytes[start] as number
    if (initial >> 5 !== major) throw this.unexpected(majorNames[major] as string)
    const info = initial & 0x1f
    if (info < 24) {
      this.position = start + 1
      return info
    }
    if (info < 28) {
      const width = 1 << (info - 24)
      if (width >= this.end - start) throw endOfInput(this.end)
      this.position = start + 1 + width
      return readArgument(this.bytes, start + 1, width)
    }
    if (info < 31) throw reserved(start)
    this.position = start + 1
    return -1
  }

  /** The exact argument of the head at an offset, whose argument has eight bytes. */
  #exact(start: number): bigint {
    const high = readArgument(this.bytes, start + 1, 4)
    const low = readArgument(this.bytes, start + 5, 4)
    return (BigInt(high) << 32n) | BigInt(low)
  }

  #text(start = this.position): Uint8Array {
    const length = this.#argument(Major.text)
    if (length >= 0) return this.#take(length)
    throw this.error('CBOR_UNEXPECTED_TYPE', 'an indefinite-length text string', start)
  }

  #decode(text: Uint8Array, start: number): string {
    try {
      return utf8.decode(text)
    } catch {
      throw this.error('CBOR_INVALID_UTF8', 'a text string that is not valid UTF-8', start)
    }
  }

  #take(length: number): Uint8Array {
    const start = this.position
    if (length > this.end - start) throw endOfInput(this.end)
    this.position = start + length
    return this.bytes.subarray(start, this.position)
  }
}
