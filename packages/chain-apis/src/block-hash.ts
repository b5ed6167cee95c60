/**
 * The hash of a block as a request may write it: 64 hex digits, or the 56 of a header hash on layer 2, which
 * four zero bytes follow.
 */
export function readBlockHash(text: string): string {
  const hash = text.toLowerCase()
  return hash.length === 56 ? `${hash}00000000` : hash
}
