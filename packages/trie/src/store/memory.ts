import { emptyRoot, readUint16, writeUint16 } from '../hash/memory.js'
import type { Replacement, TrieStore, Version } from './store.js'

/** A store in memory. */
export interface MemoryStore extends TrieStore {
  /** Bytes allocated for the nodes of all kept versions, including free space. */
  readonly bytes: number
}

interface KeptVersion {
  version: Version
  created: Float64Array
  /** Nodes that only older versions use, freed when the previous one is forgotten. */
  superseded: Float64Array
}

const noIds = new Float64Array()

/**
 * Creates a store that keeps a trie in memory. Nodes are packed into a few large buffers, without an object
 * for each, so a million keys cost the garbage collector nothing.
 *
 * @example
 * const trie = createTrie({ store: createMemoryStore() })
 */
export function createMemoryStore(): MemoryStore {
  let slab = createSlab()
  let sequence = 0
  let head: Version = { sequence, root: emptyRoot(), node: 0, size: 0 }
  let kept: KeptVersion[] = [{ version: head, created: noIds, superseded: noIds }]

  function free(ids: Iterable<number>): void {
    for (const id of ids) slab.remove(id)
  }

  function prune(keep: number): void {
    while (kept.length > keep) {
      kept.shift()
      const oldest = kept[0]
      if (oldest === undefined) return
      free(oldest.superseded)
      oldest.superseded = noIds
      oldest.created = noIds
    }
  }

  function stage(): Replacement {
    const replacement = createSlab()
    return {
      write: replacement.add,
      finish(version) {
        slab = replacement
        sequence += 1
        head = { ...version, sequence }
        kept = [{ version: head, created: noIds, superseded: noIds }]
      },
    }
  }

  return {
    get head() {
      return head
    },

    get versions() {
      return kept.map(({ version }) => version)
    },

    get bytes() {
      return slab.capacity
    },

    read(id) {
      return slab.get(id)
    },

    commit(superseded, keep, write) {
      const created: number[] = []
      try {
        const outcome = write((bytes) => {
          const id = slab.add(bytes)
          created.push(id)
          return id
        })
        sequence += 1
        head = { ...outcome, sequence }
      } catch (error) {
        free(created)
        throw error
      }
      kept.push({
        version: head,
        created: Float64Array.from(created),
        superseded: Float64Array.from(superseded),
      })
      prune(keep)
    },

    replace(write) {
      const replacement = stage()
      replacement.finish(write(replacement.write))
    },

    stage,

    undo(sequence) {
      const left = kept.filter(({ version }) => version.sequence <= sequence)
      for (const undone of kept.slice(left.length)) free(undone.created)
      kept = left
      head = left.at(-1)?.version ?? head
    },

    prune,

    // They are freed when their version is forgotten, which takes next to no time.
    free: () => 0,

    async close() {
      kept = []
      slab = createSlab()
    },
  }
}

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
/** Bytes that the first chunk begins with: most tries are small, and there are many of them. */
const firstBytes = 4096
/** Each byte string is preceded by its length. */
const headerLength = 2

/**
 * An id is an offset in units of four bytes. Chunks of a megabyte, the first of which grows to that, are
 * filled from the start; byte strings of the same number of units reuse freed ones.
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
    reserve(Math.floor(id / chunkUnits), ((id % chunkUnits) + units) * unitLength)
    return id
  }

  function reserve(place: number, bytes: number): void {
    const chunk = chunks[place]
    if (chunk !== undefined && chunk.length >= bytes) return
    const whole = chunkUnits * unitLength
    const larger = new Uint8Array(place > 0 ? whole : Math.min(whole, Math.max(firstBytes, 2 * bytes)))
    if (chunk !== undefined) larger.set(chunk)
    chunks[place] = larger
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
      return chunks.reduce((sum, { length }) => sum + length, 0)
    },
  }
}
