/** Bytes of a length that differ by a number. */
export function numbered(length, n) {
  const bytes = Buffer.alloc(length)
  bytes.writeUInt32BE(n)
  return bytes
}
