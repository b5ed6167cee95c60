import { fromHex } from './bytes.js'

const maxUint64 = 0xffff_ffff_ffff_ffffn
/** Plutus data limits byte strings to this length; longer ones are written in chunks. */
const plutusChunkLength = 64

const utf8 = new TextEncoder()

/**
 * Writes CBOR item by item. Heads are in their shortest form, as the core deterministic encoding requires
 * (RFC 8949, section 4.2.1); lengths are definite unless you call an `indefinite…` method. The caller decides
 * the order of map keys and writes as many items as it announces.
 *
 * @example
 * // the output reference id#0
 * new CborWriter().array(2).bytes(id).uint(0).toBytes()
 */
export class CborWriter {
  #bytes: Uint8Array
  #length = 0

  /** @param capacity initial size of the buffer in bytes; it grows as needed */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity)
  }

  /**
   * Writes an unsigned integer.
   *
   * @throws RangeError if the value is negative, not an integer, or over 64 bits
   */
  uint(value: number | bigint): this {
    return this.#head(0, value)
  }

  /** Writes an integer of any size: a bignum (tag 2 or 3) if it does not fit into 64 bits. */
  int(value: number | bigint): this {
    const negative = value < 0
    const magnitude = negative ? -1n - BigInt(value) : BigInt(value)
    if (magnitude <= maxUint64) return this.#head(negative ? 1 : 0, magnitude)
    const digits = magnitude.toString(16)
    const hex = digits.length % 2 === 0 ? digits : `0${digits}`
    return this.tag(negative ? 3 : 2).boundedBytes(fromHex(hex))
  }

  /** Writes a definite-length byte string. */
  bytes(value: Uint8Array): this {
    return this.#head(2, value.length).raw(value)
  }

  /** Writes a byte string of Plutus data: in chunks of 64 bytes if it is longer than that. */
  boundedBytes(value: Uint8Array): this {
    if (value.length <= plutusChunkLength) return this.bytes(value)
    this.#initial(0x5f)
    for (let start = 0; start < value.length; start += plutusChunkLength) {
      this.bytes(value.subarray(start, start + plutusChunkLength))
    }
    return this.break()
  }

  /** Writes a definite-length text string. */
  text(value: string): this {
    const encoded = utf8.encode(value)
    return this.#head(3, encoded.length).raw(encoded)
  }

  /** Starts an array; write `size` items after it. */
  array(size: number): this {
    return this.#head(4, size)
  }

  /** Starts a map; write `size` keys, each with its value, after it. */
  map(size: number): this {
    return this.#head(5, size)
  }

  /** Starts an indefinite-length array; end it with `break`. */
  indefiniteArray(): this {
    return this.#initial(0x9f)
  }

  /** Starts an indefinite-length map; end it with `break`. */
  indefiniteMap(): this {
    return this.#initial(0xbf)
  }

  /** Ends an indefinite-length array or map. */
  break(): this {
    return this.#initial(0xff)
  }

  /** Writes a tag number; its content is the next item. */
  tag(number: number): this {
    return this.#head(6, number)
  }

  /** Writes `true` or `false`. */
  boolean(value: boolean): this {
    return this.#initial(value ? 0xf5 : 0xf4)
  }

  /** Writes null. */
  null(): this {
    return this.#initial(0xf6)
  }

  /** Writes items that are already encoded. */
  raw(encoded: Uint8Array): this {
    this.#reserve(encoded.length)
    this.#bytes.set(encoded, this.#length)
    this.#length += encoded.length
    return this
  }

  /** A copy of the bytes written so far. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #head(major: number, argument: number | bigint): this {
    if (typeof argument === 'number' ? !Number.isSafeInteger(argument) : argument > maxUint64) {
      throw new RangeError(`${argument} is not an unsigned 64-bit integer`)
    }
    if (argument < 0) throw new RangeError(`${argument} is negative`)
    this.#reserve(9)
    const initial = major << 5
    if (argument < 24) return this.#initial(initial | Number(argument))
    const width = argument < 0x100 ? 1 : argument < 0x1_0000 ? 2 : argument < 0x1_0000_0000 ? 4 : 8
    this.#initial(initial | (24 + Math.log2(width)))
    let rest = BigInt(argument)
    for (let i = width - 1; i >= 0; i--) {
      this.#bytes[this.#length + i] = Number(rest & 0xffn)
      rest >>= 8n
    }
    this.#length += width
    return this
  }

  #initial(byte: number): this {
    this.#reserve(1)
    this.#bytes[this.#length++] = byte
    return this
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
