import { readUint16, writeUint16 } from '../hash/memory.js'

/** Memory for byte strings of a few hundred bytes, without an object for each. */
interface Slab {
  /** Stores a copy of `bytes` and returns its id, a positive integer. */
  add(bytes: Uint8Array): number
  /** A view of the bytes at `id`. */
  get(id: number): Uint8Array
  /** Frees the memory of `id` for later byte strings. */
  remove(id: number): void
  readonly capacity: number
}

const unitLength = 4
const chunkUnits = 2 ** 18
/** Each byte string is preceded by its length. */
const headerLength = 2

/**
 * An id is an offset in units of four bytes. Chunks of a megabyte are filled from the start; byte strings of
 * the same number of units reuse freed ones.
 */
export function createSlab(): Slab {
  const chunks: Uint8Array[] = []
  const vacant = new Map<number, number[]>()
  // The first unit stays empty, because 0 is not an id.
  let next = 1

  function chunkOf(id: number): Uint8Array {
    const chunk = chunks[Math.floor(id / chunkUnits)]
    if (chunk === undefined) throw new RangeError(`The slab has nothing at ${id}`)
    return chunk
  }

  function unitsFor(length: number): number {
    return Math.ceil((headerLength + length) / unitLength)
  }

  function take(units: number): number {
    const reused = vacant.get(units)?.pop()
    if (reused !== undefined) return reused
    if ((next % chunkUnits) + units > chunkUnits) next = Math.ceil(next / chunkUnits) * chunkUnits
    const id = next
    next += units
    if (Math.floor(id / chunkUnits) === chunks.length) chunks.push(new Uint8Array(chunkUnits * unitLength))
    return id
  }

  return {
    add(bytes) {
      const id = take(unitsFor(bytes.length))
      const chunk = chunkOf(id)
      const offset = (id % chunkUnits) * unitLength
      writeUint16(chunk, offset, bytes.length)
      chunk.set(bytes, offset + headerLength)
      return id
    },

    get(id) {
      const chunk = chunkOf(id)
      const offset = (id % chunkUnits) * unitLength
      return chunk.subarray(offset + headerLength, offset + headerLength + readUint16(chunk, offset))
    },

    remove(id) {
      const units = unitsFor(readUint16(chunkOf(id), (id % chunkUnits) * unitLength))
      const places = vacant.get(units)
      if (places === undefined) vacant.set(units, [id])
      else places.push(id)
    },

    get capacity() {
      return chunks.length * chunkUnits * unitLength
    },
  }
}
