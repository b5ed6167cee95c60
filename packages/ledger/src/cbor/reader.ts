import { plainBytes } from '../bytes.js'
import { CborError, DecodeError, type DecodeErrorCode } from '../errors.js'
import { type CborLimits, defaultLimits } from './limits.js'
import { endOfInput, readArgument, reserved, walkItem } from './walk.js'

/** The major types of RFC 8949, section 3.1. */
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

const MAX_INT64 = 2n ** 63n - 1n

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

// Fatal: the ledger refuses text that is no UTF-8. A byte order mark is a character like any other.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads CBOR item by item from where it stands, for decoders that know what they expect. It takes every width of a number, as
 * cardano-node does, and leaves no copy behind: byte strings are views of the input.
 *
 * Arrays and maps give their header, `-1` for the indefinite form; `hasNext` asks for the next item in both forms.
 *
 * @example
 * const reader = new CborReader(bytes)
 * const count = reader.readArray()
 * for (let i = 0; reader.hasNext(count, i); i++) console.log(reader.readUint())
 * reader.assertEnd()
 */
export class CborReader {
  readonly bytes: Uint8Array
  /** The offset of the next item. */
  position: number
  readonly end: number
  readonly limits: CborLimits

  /** @param limits bounds of `skip` */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length, limits: CborLimits = defaultLimits) {
    this.bytes = plainBytes(bytes)
    this.position = start
    this.end = end
    this.limits = limits
  }

  /** A reader of a part of the same bytes, with the same offsets. */
  within(start: number, end: number): CborReader {
    return new CborReader(this.bytes, start, end, this.limits)
  }

  /** The next item's initial byte, not consumed. */
  peek(): number {
    if (this.position >= this.end) throw endOfInput(this.end)
    return this.bytes[this.position] as number
  }

  /** The next item's major type, not consumed. */
  peekMajor(): number {
    return this.peek() >> 5
  }

  /** The bytes from an offset up to where the reader stands: a view. */
  since(start: number): Uint8Array {
    return this.bytes.subarray(start, this.position)
  }

  /** An unsigned integer up to `max`, at most 2^53 − 1. */
  readUint(max: number = Number.MAX_SAFE_INTEGER): number {
    const start = this.position
    const value = this.#argument(Major.unsigned)
    if (value < 0) throw reserved(start)
    if (value > max) throw this.error('out-of-range', `a number over ${max}`, start)
    return value
  }

  /** An unsigned integer of up to 64 bits. */
  readUint64(): bigint {
    const start = this.position
    const value = this.#argument(Major.unsigned)
    if (value < 0) throw reserved(start)
    return value <= Number.MAX_SAFE_INTEGER ? BigInt(value) : this.#exact(start)
  }

  /** A signed integer of 64 bits. */
  readInt64(): bigint {
    const start = this.position
    const value = this.readInt()
    if (value > MAX_INT64 || value < -MAX_INT64 - 1n) {
      throw this.error('out-of-range', 'a number that is no signed integer of 64 bits', start)
    }
    return value
  }

  /** An integer of major type 0 or 1, so from −2^64 to 2^64 − 1. */
  readInt(): bigint {
    const start = this.position
    if (this.peekMajor() === Major.unsigned) return this.readUint64()
    const value = this.#argument(Major.negative)
    if (value < 0) throw reserved(start)
    return -1n - (value <= Number.MAX_SAFE_INTEGER ? BigInt(value) : this.#exact(start))
  }

  /** An integer of any size: major type 0 or 1, or a bignum (tag 2 or 3 over a definite byte string). */
  readInteger(): bigint {
    const initial = this.peek()
    if (initial !== 0xc2 && initial !== 0xc3) return this.readInt()
    this.position++
    const magnitude = bigintOf(this.readBytes())
    return initial === 0xc2 ? magnitude : -1n - magnitude
  }

  /** A definite byte string, as a view. */
  readBytes(): Uint8Array {
    const start = this.position
    const length = this.#argument(Major.bytes)
    if (length < 0) throw this.error('unexpected-type', 'a byte string in chunks', start)
    return this.#take(length)
  }

  /** A definite byte string of exactly `length` bytes, as a view. */
  readBytesOf(length: number): Uint8Array {
    const start = this.position
    const bytes = this.readBytes()
    if (bytes.length !== length) {
      throw this.error('unexpected-size', `${bytes.length} bytes instead of ${length}`, start)
    }
    return bytes
  }

  /** A definite text. */
  readText(): string {
    const start = this.position
    const length = this.#argument(Major.text)
    if (length < 0) throw this.error('unexpected-type', 'a text in chunks', start)
    const bytes = this.#take(length)
    try {
      return utf8.decode(bytes)
    } catch {
      throw this.error('invalid-utf8', 'a text that is no UTF-8', start)
    }
  }

  /** Enters an array: the number of its items, or −1 for the indefinite form. */
  readArray(): number {
    const start = this.position
    const count = this.#argument(Major.array)
    // An item has at least one byte, so a greater count cannot come true.
    if (count > this.end - this.position)
      throw new CborError('end-of-input', start, `an array of ${count} items`)
    return count
  }

  /** Enters a map: the number of its entries, or −1 for the indefinite form. */
  readMap(): number {
    const start = this.position
    const count = this.#argument(Major.map)
    if (count > (this.end - this.position) / 2) {
      throw new CborError('end-of-input', start, `a map of ${count} entries`)
    }
    return count
  }

  /** Whether an array or map entered before has an item number `index`; consumes the break of the indefinite form. */
  hasNext(count: number, index: number): boolean {
    if (count >= 0) return index < count
    if (this.peek() !== 0xff) return true
    this.position++
    return false
  }

  /** Leaves an array of which exactly `size` items were read. */
  leaveArray(count: number, size: number, start: number): void {
    if (count >= 0 ? count !== size : this.hasNext(count, size)) {
      throw this.error('unexpected-size', `an array of another size than ${size}`, start)
    }
  }

  /** A tag's number; its content is the next item. */
  readTag(): number {
    const start = this.position
    const tag = this.#argument(Major.tag)
    if (tag < 0) throw reserved(start)
    return tag
  }

  readBoolean(): boolean {
    const initial = this.peek()
    if (initial !== 0xf4 && initial !== 0xf5) throw this.unexpected('a boolean')
    this.position++
    return initial === 0xf5
  }

  /** Consumes a null if it is next. */
  tryNull(): boolean {
    if (this.peek() !== 0xf6) return false
    this.position++
    return true
  }

  /** Enters a string of indefinite length if one of this major type is next; its chunks follow. */
  tryIndefinite(major: number): boolean {
    if (this.peek() !== (major << 5) + 31) return false
    this.position++
    return true
  }

  /** Passes over one well-formed item of whatever type. */
  skip(): void {
    this.position = walkItem(this.bytes, this.position, this.end, this.limits)
  }

  /** Throws unless everything has been read. */
  assertEnd(): void {
    if (this.position < this.end) {
      throw new CborError('trailing-bytes', this.position, `${this.end - this.position} bytes after the item`)
    }
  }

  /** An error at an offset, by default where the reader stands. */
  error(code: DecodeErrorCode, reason: string, offset: number = this.position): DecodeError {
    return new DecodeError(code, offset, reason)
  }

  /** An error that says what is next instead of what was expected. */
  unexpected(expected: string): DecodeError {
    return this.error('unexpected-type', `${majorNames[this.peekMajor()]} instead of ${expected}`)
  }

  /** Reads a head of a major type: its argument, or −1 for the indefinite form. Rounded over 2^53. */
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

  /** The argument of the eight-byte head at an offset. */
  #exact(start: number): bigint {
    const high = readArgument(this.bytes, start + 1, 4)
    const low = readArgument(this.bytes, start + 5, 4)
    return (BigInt(high) << 32n) | BigInt(low)
  }

  #take(length: number): Uint8Array {
    const start = this.position
    if (length > this.end - start) throw endOfInput(this.end)
    this.position = start + length
    return this.bytes.subarray(start, this.position)
  }
}

/** An unsigned big-endian number of any length. */
export function bigintOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`)
}
