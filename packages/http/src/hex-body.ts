/** The most white space accepted around the digits of a body, in bytes. */
const whiteSpaceAllowance = 1024

/**
 * The body limit of a route that reads its body with {@link hexBody}, in bytes.
 *
 * @param maxBytes bytes that the digits stand for
 */
export function hexBodyLimit(maxBytes: number): number {
  return 2 * maxBytes + whiteSpaceAllowance
}

/**
 * Decodes a body of hex digits in either case, with optional white space around them. The size is checked
 * before the digits.
 *
 * @param maxBytes bytes that the digits may stand for
 * @returns the bytes; `'too large'` for more of them; `'not hex'` for anything else
 */
export function hexBody(body: Buffer, maxBytes: number): Uint8Array | 'too large' | 'not hex' {
  let start = 0
  let end = body.length
  while (start < end && isWhiteSpace(body[start])) start++
  while (end > start && isWhiteSpace(body[end - 1])) end--
  if (end - start > 2 * maxBytes) return 'too large'
  // As Latin-1, each byte is one character: Node reads a wider character as the digit of its low byte.
  // Decoding stops at the first character that is not a digit, so the length shows whether all of them
  // were.
  const bytes = Buffer.from(body.toString('latin1', start, end), 'hex')
  return 2 * bytes.length === end - start ? bytes : 'not hex'
}

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d)
}
