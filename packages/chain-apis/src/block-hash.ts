/** A block hash in a request: 64 hex digits, or the 56 of a layer-2 header hash, before four zero bytes. */
export function readBlockHash(text: string): string {
  const hash = text.toLowerCase()
  return hash.length === 56 ? `${hash}00000000` : hash
}
