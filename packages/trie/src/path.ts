/** Nibbles in a path: the Blake2b-256 of a key, high nibble of each byte first. */
export const pathLength = 64

/** The nibble (0–15) at `index` (0–63) of a path. */
export function nibbleAt(path: Uint8Array, index: number): number {
  const byte = path[index >> 1] ?? 0
  return index % 2 === 0 ? byte >> 4 : byte & 0x0f
}

/** The index of the first nibble at or after `start` in which two paths differ; 64 if they are equal. */
export function divergence(a: Uint8Array, b: Uint8Array, start: number): number {
  let index = start
  if (index % 2 === 1) {
    if (nibbleAt(a, index) !== nibbleAt(b, index)) return index
    index += 1
  }
  for (let byte = index >> 1; byte < pathLength / 2; byte += 1) {
    const difference = (a[byte] ?? 0) ^ (b[byte] ?? 0)
    if (difference !== 0) return byte * 2 + (difference < 0x10 ? 1 : 0)
  }
  return pathLength
}

/** A path of the first `depth` nibbles of `path`, then `nibbles` (one per byte); the rest is unspecified. */
export function extendPath(path: Uint8Array, depth: number, nibbles: Uint8Array): Uint8Array {
  if (nibbles.length === 0) return path
  const extended = new Uint8Array(pathLength / 2)
  extended.set(path.subarray(0, (depth + 1) >> 1))
  let index = depth
  for (const nibble of nibbles) {
    setNibble(extended, index, nibble)
    index += 1
  }
  return extended
}

function setNibble(path: Uint8Array, index: number, nibble: number): void {
  const byte = path[index >> 1] ?? 0
  path[index >> 1] = index % 2 === 0 ? (nibble << 4) | (byte & 0x0f) : (byte & 0xf0) | nibble
}

/** The nibbles of a path from one index up to another, a byte each. */
export const nibblesOf = (path: Uint8Array, from: number, to: number): Uint8Array =>
  Uint8Array.from({ length: to - from }, (_, index) => nibbleAt(path, from + index))
