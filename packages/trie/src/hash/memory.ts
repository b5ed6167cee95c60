/** Length in bytes of every hash, path and root. */
export const hashLength = 32

/** The root of the empty map: 32 zero bytes, a new array at each call. */
export function emptyRoot(): Uint8Array {
  return new Uint8Array(hashLength)
}

const poolLength = 8192
let pool = new Uint8Array(poolLength)
let used = 0

/**
 * Zeroed bytes. Small ones are views of a shared buffer, as Node.js's Buffers are: cheaper than their own,
 * and outside V8's heap, so that native code reads them in place.
 */
export function allocate(length: number): Uint8Array {
  if (length > poolLength / 8) return new Uint8Array(length)
  if (used + length > poolLength) {
    pool = new Uint8Array(poolLength)
    used = 0
  }
  used += length
  return pool.subarray(used - length, used)
}

/** Copies bytes, for which `set` would need a view that is garbage at once. */
export function copyBytes(
  target: Uint8Array,
  at: number,
  source: Uint8Array,
  start: number,
  length: number,
): void {
  for (let i = 0; i < length; i += 1) target[at + i] = source[start + i] as number
}

/** A copy of some of the bytes, from the shared buffer. */
export function copyOf(bytes: Uint8Array, start = 0, length = bytes.length): Uint8Array {
  const copy = allocate(length)
  copyBytes(copy, 0, bytes, start, length)
  return copy
}

/** The big-endian number of 16 bits at an offset. */
export function readUint16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] as number) << 8) | (bytes[offset + 1] as number)
}

export function writeUint16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 8
  bytes[offset + 1] = value
}

/** The big-endian number of 48 bits at an offset. */
export function readUint48(bytes: Uint8Array, offset: number): number {
  const high = readUint16(bytes, offset)
  return high * 2 ** 32 + readUint16(bytes, offset + 2) * 2 ** 16 + readUint16(bytes, offset + 4)
}

export function writeUint48(bytes: Uint8Array, offset: number, value: number): void {
  const low = value >>> 0
  writeUint16(bytes, offset, Math.floor(value / 2 ** 32))
  writeUint16(bytes, offset + 2, low >>> 16)
  writeUint16(bytes, offset + 4, low & 0xffff)
}

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
