/**
 * Hashes inside a memory of its own, addressed by offsets: without views, copies and allocations. Each thread
 * has one; a function that uses it is done with it before it returns.
 */
export interface HashMemory {
  readonly bytes: Uint8Array
  /** Writes the Blake2b-256 of the `length` bytes at `input` to `output`. */
  hash(output: number, input: number, length: number): void
  /** Hashes the 64 bytes at `input`, and the 64 bytes after them, to `output` and the 32 bytes after it. */
  hashPair(output: number, input: number): void
  /** Copies 64 bytes. */
  copyPair(to: number, from: number): void
  /** @returns the offset, a multiple of 16, of `length` bytes that no other call reserves */
  reserve(length: number): number
}

export const memoryLength = 65_536

/** @param next the first offset that is free */
export function createReserve(next: number): (length: number) => number {
  let free = next
  return (length) => {
    const offset = free
    free += Math.ceil(length / 16) * 16
    if (free > memoryLength) throw new RangeError(`${length} bytes do not fit into the memory for hashing`)
    return offset
  }
}
