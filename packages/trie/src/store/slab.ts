/** Memory for byte strings of a few hundred bytes, without an object for each. */
export interface Slab {
  /** Copies `bytes` and answers where to find them: a positive integer. */
  add(bytes: Uint8Array): number
  /** A view of the bytes at `id`. */
  get(id: number): Uint8Array
  /** Gives the room of `id` to those who come later. */
  remove(id: number): void
  /** Bytes that are taken from the system. */
  readonly capacity: number
}

const UNIT = 4
const CHUNK_UNITS = 2 ** 18
/** In front of each byte string: its length. */
const HEADER = 2

/**
 * An id is a place, counted in units of four bytes. Chunks of a megabyte are filled from the front; what is removed
 * waits in a list for a byte string that takes the same number of units.
 */
export function createSlab(): Slab {
  const chunks: Buffer[] = []
  const vacant = new Map<number, number[]>()
  // The first unit stays empty, so that no id is 0.
  let next = 1

  function chunkOf(id: number): Buffer {
    const chunk = chunks[Math.floor(id / CHUNK_UNITS)]
    if (chunk === undefined) throw new RangeError(`Nothing is kept at ${id}`)
    return chunk
  }

  function unitsFor(length: number): number {
    return Math.ceil((HEADER + length) / UNIT)
  }

  function take(units: number): number {
    const reused = vacant.get(units)?.pop()
    if (reused !== undefined) return reused
    if ((next % CHUNK_UNITS) + units > CHUNK_UNITS) next = Math.ceil(next / CHUNK_UNITS) * CHUNK_UNITS
    const id = next
    next += units
    if (Math.floor(id / CHUNK_UNITS) === chunks.length)
      chunks.push(Buffer.allocUnsafeSlow(CHUNK_UNITS * UNIT))
    return id
  }

  return {
    add(bytes) {
      const id = take(unitsFor(bytes.length))
      const chunk = chunkOf(id)
      const offset = (id % CHUNK_UNITS) * UNIT
      chunk.writeUInt16BE(bytes.length, offset)
      chunk.set(bytes, offset + HEADER)
      return id
    },

    get(id) {
      const chunk = chunkOf(id)
      const offset = (id % CHUNK_UNITS) * UNIT
      return chunk.subarray(offset + HEADER, offset + HEADER + chunk.readUInt16BE(offset))
    },

    remove(id) {
      const units = unitsFor(chunkOf(id).readUInt16BE((id % CHUNK_UNITS) * UNIT))
      const places = vacant.get(units)
      if (places === undefined) vacant.set(units, [id])
      else places.push(id)
    },

    get capacity() {
      return chunks.length * CHUNK_UNITS * UNIT
    },
  }
}
