/** The bytes are not a flat-encoded program. Internal to this folder. */
export class FlatError extends Error {
  override readonly name = 'FlatError'
}

/** Reads flat's primitives, most significant bit first. */
export class BitReader {
  #bit = 0

  constructor(readonly bytes: Uint8Array) {}

  bit(): number {
    const byte = this.bytes[this.#bit >> 3]
    if (byte === undefined) throw new FlatError('the program ends early')
    const value = (byte >> (7 - (this.#bit & 7))) & 1
    this.#bit += 1
    return value
  }

  bits(count: number): number {
    let value = 0
    for (let i = 0; i < count; i += 1) value = (value << 1) | this.bit()
    return value
  }

  /** A natural number in groups of seven bits, least significant first. Only its low 53 bits are returned. */
  natural(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const group = this.bits(8)
      if (scale < 2 ** 49) value += (group & 0x7f) * scale
      if (group < 0x80) return value
    }
  }

  /** An integer of any size in zigzag encoding: 0, −1, 1, −2, … */
  integer(): bigint {
    const groups: string[] = []
    let group: number
    do {
      group = this.bits(8)
      groups.push((group & 0x7f).toString(2).padStart(7, '0'))
    } while (group >= 0x80)
    const natural = BigInt(`0b${groups.reverse().join('')}`)
    return (natural & 1n) === 0n ? natural >> 1n : -(natural >> 1n) - 1n
  }

  /** The filler: zeros and a one, up to the end of a byte. */
  filler(): void {
    while (this.bit() === 0);
    if ((this.#bit & 7) !== 0) throw new FlatError('a filler that ends inside a byte')
  }

  /** A byte string: a filler, then blocks of up to 255 bytes behind their length. The last one is empty. */
  byteString(): Uint8Array {
    this.filler()
    const blocks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const at = this.#bit >> 3
      const length = this.bytes[at]
      if (length === undefined || at + length >= this.bytes.length) throw new FlatError('a string ends early')
      this.#bit += (1 + length) * 8
      if (length === 0) break
      blocks.push(this.bytes.subarray(at + 1, at + 1 + length))
      size += length
    }
    if (blocks.length === 1 && blocks[0]) return blocks[0]
    const whole = new Uint8Array(size)
    let position = 0
    for (const block of blocks) {
      whole.set(block, position)
      position += block.length
    }
    return whole
  }

  atEnd(): boolean {
    return this.#bit === this.bytes.length * 8
  }
}
