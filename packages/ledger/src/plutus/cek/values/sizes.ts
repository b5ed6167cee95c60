const lastOfOneWord = 2n ** 64n - 1n

/** The size of an integer in 64-bit words; zero has one. */
export function integerSize(value: bigint): number {
  if (value <= lastOfOneWord && value >= -lastOfOneWord) return 1
  const digits = value.toString(16)
  return Math.ceil((value < 0n ? digits.length - 1 : digits.length) / 16)
}

/** The size of a byte string in 8-byte words; the empty one has one. */
export function bytesSize({ length }: Uint8Array): number {
  return length === 0 ? 1 : Math.ceil(length / 8)
}

/** The length of a text in Unicode code points. */
export function characterCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xdc00 && unit <= 0xdfff) count--
  }
  return count
}

/** The length of a text in bytes of UTF-8. */
export function utf8Length(text: string): number {
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Half of a surrogate pair, which takes four bytes. Texts come from UTF-8, so every surrogate is paired.
    length += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return length
}
