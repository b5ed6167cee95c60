/**
 * Hashes inside a memory of its own, addressed by offsets: without views, copies and allocations. There is
 * one on each thread; whoever uses it is done with it before it returns.
 */
export interface HashMemory {
  /** The memory. */
  readonly bytes: Uint8Array
  /** Writes the Blake2b-256 of the `length` bytes at `input` to `output`. */
  hash(output: number, input: number, length: number): void
  /** Hashes the 64 bytes at `input`, and the 64 bytes after them, to `output` and the 32 bytes after it. */
  hashPair(output: number, input: number): void
  /** Copies 64 bytes. */
  copyPair(to: number, from: number): void
  /** @returns the offset, a multiple of 16, of so many bytes that nobody else reserves */
  reserve(length: number): number
}

/** Length of the memory. */
export const MEMORY_LENGTH = 65_536

/** @param next the first offset that is free */
export function createReserve(next: number): (length: number) => number {
  let free = next
  return (length) => {
    const offset = free
    free += Math.ceil(length / 16) * 16
    if (free > MEMORY_LENGTH) throw new RangeError(`${length} bytes do not fit into the memory for hashing`)
    return offset
  }
}
