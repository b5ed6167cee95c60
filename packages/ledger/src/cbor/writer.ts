/**
 * Writes CBOR by RFC 8949's core deterministic rules for heads: each number in its shortest form, definite lengths unless the
 * indefinite form is asked for. The order of map keys is the caller's.
 *
 * @example
 * // the output reference ⟨id⟩#0
 * new CborWriter().array(2).bytes(id).uint(0).toBytes()
 */
export class CborWriter {
  #bytes: Uint8Array
  #length = 0

  /** @param capacity bytes to begin with; it grows by itself */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity)
  }

  /** @throws RangeError on a number that is negative, no integer, or over 64 bits */
  uint(value: number | bigint): this {
    return this.#head(0, value)
  }

  /** Any integer: a bignum (tag 2 or 3) where 64 bits do not hold it. */
  int(value: number | bigint): this {
    const negative = value < 0
    const magnitude = negative ? -1n - BigInt(value) : BigInt(value)
    if (magnitude <= 0xffff_ffff_ffff_ffffn) return this.#head(negative ? 1 : 0, magnitude)
    const digits = magnitude.toString(16)
    const hex = digits.length % 2 === 0 ? digits : `0${digits}`
    return this.tag(negative ? 3 : 2).boundedBytes(Buffer.from(hex, 'hex'))
  }

  bytes(value: Uint8Array): this {
    return this.#head(2, value.length).raw(value)
  }

  /** Plutus data's byte string: over 64 bytes it is cut into chunks of 64. */
  boundedBytes(value: Uint8Array): this {
    if (value.length <= 64) return this.bytes(value)
    this.#initial(0x5f)
    for (let start = 0; start < value.length; start += 64) this.bytes(value.subarray(start, start + 64))
    return this.break()
  }

  text(value: string): this {
    const encoded = Buffer.from(value, 'utf8')
    return this.#head(3, encoded.length).raw(encoded)
  }

  /** Opens an array of `size` items. */
  array(size: number): this {
    return this.#head(4, size)
  }

  /** Opens a map of `size` entries. */
  map(size: number): this {
    return this.#head(5, size)
  }

  /** Opens an array that ends at `break`. */
  indefiniteArray(): this {
    return this.#initial(0x9f)
  }

  /** Opens a map that ends at `break`. */
  indefiniteMap(): this {
    return this.#initial(0xbf)
  }

  break(): this {
    return this.#initial(0xff)
  }

  tag(number: number): this {
    return this.#head(6, number)
  }

  boolean(value: boolean): this {
    return this.#initial(value ? 0xf5 : 0xf4)
  }

  null(): this {
    return this.#initial(0xf6)
  }

  /** Items that are encoded already. */
  raw(encoded: Uint8Array): this {
    this.#reserve(encoded.length)
    this.#bytes.set(encoded, this.#length)
    this.#length += encoded.length
    return this
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #head(major: number, argument: number | bigint): this {
    if (typeof argument === 'number' ? !Number.isSafeInteger(argument) : argument > 0xffff_ffff_ffff_ffffn) {
      throw new RangeError(`${argument} is no integer of 64 bits`)
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
