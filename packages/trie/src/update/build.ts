import { compareBytes } from '@ratatosk/cbor'
import { blake2b256AnyInto } from '#hash'
import { TrieError } from '../errors.js'
import { allocate, HASH_LENGTH, readUint48 } from '../hash/memory.js'
import type { NodeHasher } from '../node/hasher.js'
import { createBranch, type Node, RADIX, setChild } from '../node/node.js'
import { divergence, nibbleAt, PATH_LENGTH } from '../path.js'
import type { WriteNode } from '../store/store.js'
import type { NodeSealer } from './seal.js'

/** A key with its value and, if it is known, the Blake2b-256 of the key, which is not checked. */
export type Entry = readonly [key: Uint8Array, value: Uint8Array, path?: Uint8Array | undefined]

/** Collects entries in any order, 64 bytes for each, and builds a trie, hashing each node once. */
export interface TrieBuilder {
  /** The number of entries. */
  readonly size: number
  add(entry: Entry): void
  /**
   * Writes all nodes except the root.
   *
   * @returns the root; undefined if there are no entries
   * @throws TrieError `TRIE_KEY_DUPLICATE`
   */
  build(write: WriteNode): Node | undefined
}

const RECORD_LENGTH = 2 * HASH_LENGTH

/** The paths and the hashes of the values of entries, one after another. */
interface Records {
  readonly size: number
  add(entry: Entry): void
  /** The path (0) or the hash of the value (1) of an entry. */
  half(entry: number, which: 0 | 1): Uint8Array
  /** A nibble of the path of an entry. */
  nibble(entry: number, index: number): number
  /**
   * The index of the first nibble from `depth` on in which the paths of two entries differ.
   *
   * @throws TrieError `TRIE_KEY_DUPLICATE` if there is none
   */
  fork(first: number, last: number, depth: number): number
  /** The indexes of the entries, sorted by their paths. */
  sorted(): Uint32Array
}

function createRecords(): Records {
  let records = new Uint8Array(1024 * RECORD_LENGTH)
  let size = 0

  function half(entry: number, which: 0 | 1): Uint8Array {
    const start = entry * RECORD_LENGTH + which * HASH_LENGTH
    return records.subarray(start, start + HASH_LENGTH)
  }

  return {
    get size() {
      return size
    },

    add([key, value, path]) {
      if ((size + 1) * RECORD_LENGTH > records.length) {
        const grown = new Uint8Array(records.length * 2)
        grown.set(records)
        records = grown
      }
      if (path === undefined) blake2b256AnyInto(half(size, 0), key)
      else records.set(path, size * RECORD_LENGTH)
      blake2b256AnyInto(half(size, 1), value)
      size += 1
    },

    half,
    nibble: (entry, index) => nibbleAt(records, entry * RECORD_LENGTH * 2 + index),

    fork(first, last, depth) {
      const fork = divergence(half(first, 0), half(last, 0), depth)
      if (fork === PATH_LENGTH) throw duplicateKey(Math.min(first, last), Math.max(first, last))
      return fork
    },

    sorted: () => sortedByPath(records, size),
  }
}

export function createTrieBuilder(sealer: NodeSealer): TrieBuilder {
  const records = createRecords()
  const { half } = records

  /** Creates the node above the entries in `order`, which is sorted, and seals its descendants. */
  function node(order: Uint32Array, depth: number, write: WriteNode): Node {
    const first = order[0] ?? 0
    const last = order.at(-1) ?? 0
    const path = half(first, 0)
    if (first === last) return { kind: 'leaf', id: 0, path, valueHash: half(first, 1) }
    const fork = records.fork(first, last, depth)
    const branch = createBranch(path, fork)
    for (let start = 0; start < order.length; ) {
      const nibble = nibbleOf(order, start, fork)
      let end = start + 1
      while (end < order.length && nibbleOf(order, end, fork) === nibble) end += 1
      setChild(branch, nibble, node(order.subarray(start, end), fork + 1, write))
      sealer.sealChildren(branch, write)
      start = end
    }
    return branch
  }

  function nibbleOf(order: Uint32Array, index: number, fork: number): number {
    return records.nibble(order[index] ?? 0, fork)
  }

  return {
    get size() {
      return records.size
    },

    add: records.add,

    build(write) {
      return records.size === 0 ? undefined : node(records.sorted(), 0, write)
    },
  }
}

/** Collects entries in any order and computes the root of their map, but none of its nodes. */
export interface RootBuilder {
  add(entry: Entry): void
  /**
   * The root, 32 bytes.
   *
   * @param pause awaited before each child of the topmost branch
   * @throws TrieError (rejects) `TRIE_KEY_DUPLICATE`
   */
  root(pause?: () => Promise<void>): Promise<Uint8Array>
}

/** Working memory of the branches at one height: sixteen hashes and a view of each. */
interface Level {
  readonly hashes: Uint8Array
  readonly slots: readonly Uint8Array[]
}

export function createRootBuilder(hasher: NodeHasher): RootBuilder {
  const records = createRecords()
  const levels: Level[] = []

  function levelAt(height: number): Level {
    let level = levels[height]
    if (level === undefined) {
      const hashes = allocate(RADIX * HASH_LENGTH)
      const slot = (nibble: number) => hashes.subarray(nibble * HASH_LENGTH, (nibble + 1) * HASH_LENGTH)
      level = { hashes, slots: Array.from({ length: RADIX }, (_, nibble) => slot(nibble)) }
      levels[height] = level
    }
    level.hashes.fill(0)
    return level
  }

  /** The position after the entries that share the nibble at `fork` with the one at `from`. */
  function endOfChild(order: Uint32Array, from: number, end: number, fork: number): number {
    const nibble = records.nibble(order[from] ?? 0, fork)
    let to = from + 1
    while (to < end && records.nibble(order[to] ?? 0, fork) === nibble) to += 1
    return to
  }

  /** Hashes the map of the sorted entries from `from` to `end`. */
  function hash(
    output: Uint8Array,
    order: Uint32Array,
    from: number,
    end: number,
    depth: number,
    height: number,
  ): void {
    const first = order[from] ?? 0
    const path = records.half(first, 0)
    if (end - from === 1) {
      hasher.leaf(output, path, depth, records.half(first, 1))
      return
    }
    const fork = records.fork(first, order[end - 1] ?? 0, depth)
    const { hashes, slots } = levelAt(height)
    let mask = 0
    for (let start = from; start < end; ) {
      const to = endOfChild(order, start, end, fork)
      const nibble = records.nibble(order[start] ?? 0, fork)
      hash(slots[nibble] ?? output, order, start, to, fork + 1, height + 1)
      mask |= 1 << nibble
      start = to
    }
    hasher.branch(output, path, depth, fork, hasher.merkleRoot(hashes, mask))
  }

  return {
    add: records.add,

    async root(pause) {
      const order = records.sorted()
      const end = order.length
      const root = allocate(HASH_LENGTH)
      if (end < 2) {
        if (end === 1) hash(root, order, 0, 1, 0, 0)
        return root
      }
      const first = order[0] ?? 0
      const fork = records.fork(first, order[end - 1] ?? 0, 0)
      const { hashes, slots } = levelAt(0)
      let mask = 0
      for (let start = 0; start < end; ) {
        await pause?.()
        const to = endOfChild(order, start, end, fork)
        const nibble = records.nibble(order[start] ?? 0, fork)
        hash(slots[nibble] ?? root, order, start, to, fork + 1, 1)
        mask |= 1 << nibble
        start = to
      }
      hasher.branch(root, records.half(first, 0), 0, fork, hasher.merkleRoot(hashes, mask))
      return root
    },
  }
}

function duplicateKey(first: number, second: number): TrieError {
  const message = `Entries ${first} and ${second} have the same key`
  return new TrieError('TRIE_KEY_DUPLICATE', message, { entries: [first, second] })
}

/** The indexes of the entries, sorted by their paths. */
function sortedByPath(records: Uint8Array, size: number): Uint32Array {
  // Six bytes nearly always decide, and compare faster as a number.
  const prefixes = Float64Array.from({ length: size }, (_, entry) =>
    readUint48(records, entry * RECORD_LENGTH),
  )
  const pathOf = (entry: number): Uint8Array =>
    records.subarray(entry * RECORD_LENGTH, entry * RECORD_LENGTH + HASH_LENGTH)
  const compare = (a: number, b: number): number => {
    const difference = (prefixes[a] ?? 0) - (prefixes[b] ?? 0)
    if (difference !== 0) return difference
    return compareBytes(pathOf(a), pathOf(b))
  }
  return Uint32Array.from({ length: size }, (_, entry) => entry).sort(compare)
}
