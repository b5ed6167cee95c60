const lastOfOneWord = 2n ** 64n - 1n

/** An integer in words of 64 bits; zero takes one. */
export function integerSize(value: bigint): number {
  if (value <= lastOfOneWord && value >= -lastOfOneWord) return 1
  const digits = value.toString(16)
  return Math.ceil((value < 0n ? digits.length - 1 : digits.length) / 16)
}

/** A byte string in words of 8 bytes; the empty one takes one. */
export function bytesSize({ length }: Uint8Array): number {
  return length === 0 ? 1 : Math.ceil(length / 8)
}

/** A text in characters: Unicode's, not those of JavaScript. */
export function characterCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xdc00 && unit <= 0xdfff) count--
  }
  return count
}
