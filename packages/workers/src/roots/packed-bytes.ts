/** Many byte strings in one buffer that can be moved to another thread. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where each ends. */
  readonly ends: Uint32Array<ArrayBuffer>
}

/**
 * Copies the items, once: they are often views of a buffer that others share, so they cannot be moved themselves, and cloning one
 * of them would clone that whole buffer.
 */
export function pack(items: readonly Uint8Array[]): PackedBytes {
  const bytes = new Uint8Array(items.reduce((sum, { length }) => sum + length, 0))
  const ends = new Uint32Array(items.length)
  let end = 0
  for (const [index, item] of items.entries()) {
    bytes.set(item, end)
    end += item.length
    ends[index] = end
  }
  return { bytes, ends }
}

/** The items as views of the buffer. */
export function unpack({ bytes, ends }: PackedBytes): Uint8Array[] {
  let start = 0
  return Array.from(ends, (end) => {
    const item = bytes.subarray(start, end)
    start = end
    return item
  })
}

/** What `postMessage` moves instead of cloning it. */
export function buffersOf(...packed: readonly PackedBytes[]): ArrayBuffer[] {
  return packed.flatMap(({ bytes, ends }) => [bytes.buffer, ends.buffer])
}
