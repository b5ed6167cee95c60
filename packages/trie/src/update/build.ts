import { blake2b256AnyInto, hashMemory } from '#hash'
import { TrieError } from '../errors.js'
import { allocate, hashLength, readUint16 } from '../hash/memory.js'
import { hashBranch, hashLeaf, leafInput } from '../node/hasher.js'
import { childrenLength } from '../node/merkle.js'
import { createBranch, setChild, type TrieNode } from '../node/node.js'
import { nibbleAt, pathLength } from '../path.js'
import type { WriteNode } from '../store/store.js'
import type { NodeSealer } from './seal.js'
import { sortedIndexes, sortedIndexesInTurns } from './sort.js'

/** A key with its value and, if it is known, the Blake2b-256 of the key, which is not checked. */
export type TrieEntry = readonly [key: Uint8Array, value: Uint8Array, path?: Uint8Array | undefined]

/** Collects entries in any order, 64 bytes for each, and builds a trie, hashing each node once. */
interface TrieBuilder {
  /** The number of entries. */
  readonly size: number
  add(entry: TrieEntry): void
  /**
   * Writes all nodes except the root.
   *
   * @returns the root; undefined if there are no entries
   * @throws TrieError `TRIE_KEY_DUPLICATE`
   */
  build(write: WriteNode): TrieNode | undefined
}

const recordLength = 2 * hashLength

/** Entries that are hashed in one turn of the event loop: some 10 ms. */
const entriesInTurn = 8192

/** The paths and the hashes of the values of entries, one after another. */
interface Records {
  readonly size: number
  add(entry: TrieEntry): void
  /** The path (0) or the hash of the value (1) of an entry. */
  half(entry: number, which: 0 | 1): Uint8Array
  /** Puts path and hash of the value of an entry where leaves are hashed. */
  putLeaf(entry: number): void
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
  /** The same, with pauses. */
  sortedInTurns(pause: () => Promise<void>): Promise<Uint32Array>
  /** Writes to the offset `output` the hash of a branch with nibbles of an entry's path as its prefix. */
  hashBranch(output: number, entry: number, depth: number, fork: number, hashes: number, mask: number): void
}

/** Keys and values up to this length are hashed in the memory for hashing. */
const scratchLength = 1024
const scratch = hashMemory.reserve(scratchLength)
const digest = hashMemory.reserve(hashLength)
const digestBytes = hashMemory.bytes.subarray(digest, digest + hashLength)

function createRecords(): Records {
  let records = new Uint8Array(1024 * recordLength)
  let size = 0

  const half = (entry: number, which: 0 | 1): Uint8Array => {
    const start = entry * recordLength + which * hashLength
    return records.subarray(start, start + hashLength)
  }

  function putHash(start: number, input: Uint8Array): void {
    if (input.length > scratchLength) {
      blake2b256AnyInto(records.subarray(start, start + hashLength), input)
      return
    }
    hashMemory.bytes.set(input, scratch)
    hashMemory.hash(digest, scratch, input.length)
    records.set(digestBytes, start)
  }

  const prefix = (entry: number): number => readUint16(records, entry * recordLength)

  function compare(first: number, second: number): number {
    const [a, b] = [first * recordLength, second * recordLength]
    for (let i = 0; i < hashLength; i += 1) {
      const difference = (records[a + i] as number) - (records[b + i] as number)
      if (difference !== 0) return difference
    }
    return 0
  }

  return {
    get size() {
      return size
    },

    add([key, value, path]) {
      const start = size * recordLength
      if (start === records.length) {
        const grown = new Uint8Array(records.length * 2)
        grown.set(records)
        records = grown
      }
      if (path === undefined) putHash(start, key)
      else records.set(path, start)
      putHash(start + hashLength, value)
      size += 1
    },

    half,

    putLeaf(entry) {
      const { bytes } = hashMemory
      const start = entry * recordLength
      for (let i = 0; i < recordLength; i += 1) bytes[leafInput + i] = records[start + i] as number
    },

    nibble: (entry, index) => nibbleAt(records, entry * recordLength * 2 + index),

    fork(first, last, depth) {
      const [a, b] = [first * recordLength, last * recordLength]
      // What is before `depth` is equal.
      for (let i = depth >> 1; i < hashLength; i += 1) {
        const difference = (records[a + i] as number) ^ (records[b + i] as number)
        if (difference !== 0) return 2 * i + (difference < 0x10 ? 1 : 0)
      }
      throw duplicateKey(Math.min(first, last), Math.max(first, last))
    },

    sorted: () => sortedIndexes(size, prefix, compare),

    sortedInTurns: (pause) => sortedIndexesInTurns(size, prefix, compare, pause),

    hashBranch(output, entry, depth, fork, hashes, mask) {
      hashBranch(output, records, entry * recordLength * 2 + depth, fork - depth, hashes, mask)
    },
  }
}

export function createTrieBuilder(sealer: NodeSealer): TrieBuilder {
  const records = createRecords()
  const { half } = records

  /** Creates the node above the entries in `order`, which is sorted, and seals its descendants. */
  function node(order: Uint32Array, depth: number, write: WriteNode): TrieNode {
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
interface RootBuilder {
  add(entry: TrieEntry): void
  /**
   * The root, 32 bytes.
   *
   * @param pause awaited at intervals of some 10 ms
   * @throws TrieError (rejects) `TRIE_KEY_DUPLICATE`
   */
  root(pause?: () => Promise<void>): Promise<Uint8Array>
}

/** Where the hashes of the children of branches are while they are computed: a place for each height. */
const heights = hashMemory.reserve(pathLength * childrenLength)

export function createRootBuilder(): RootBuilder {
  const { bytes } = hashMemory
  const records = createRecords()

  /** The position after the entries that share the nibble at `fork` with the one at `from`. */
  function endOfChild(order: Uint32Array, from: number, end: number, fork: number): number {
    const nibble = records.nibble(order[from] as number, fork)
    let to = from + 1
    while (to < end && records.nibble(order[to] as number, fork) === nibble) to += 1
    return to
  }

  /** Hashes the map of the sorted entries from `from` to `end` to the offset `output`. */
  function hash(
    output: number,
    order: Uint32Array,
    from: number,
    end: number,
    depth: number,
    height: number,
  ): void {
    const first = order[from] as number
    if (end - from === 1) {
      records.putLeaf(first)
      hashLeaf(output, depth)
      return
    }
    const fork = records.fork(first, order[end - 1] as number, depth)
    const children = heights + height * childrenLength
    bytes.fill(0, children, children + childrenLength)
    let mask = 0
    for (let start = from; start < end; ) {
      const to = endOfChild(order, start, end, fork)
      const nibble = records.nibble(order[start] as number, fork)
      hash(children + nibble * hashLength, order, start, to, fork + 1, height + 1)
      mask |= 1 << nibble
      start = to
    }
    records.hashBranch(output, first, depth, fork, children, mask)
  }

  return {
    add: records.add,

    async root(pause) {
      const order = pause === undefined ? records.sorted() : await records.sortedInTurns(pause)
      const root = allocate(hashLength)
      if (order.length === 0) return root
      if (pause === undefined || order.length === 1) hash(digest, order, 0, order.length, 0, 0)
      else await hashInTurns(order, 0, order.length, 0, 0, pause)
      root.set(digestBytes)
      return root
    },
  }

  /** {@link hash} to `digest`, with pauses before the children of the topmost branches. */
  async function hashInTurns(
    order: Uint32Array,
    from: number,
    end: number,
    depth: number,
    height: number,
    pause: () => Promise<void>,
  ): Promise<void> {
    if (end - from < entriesInTurn) {
      await pause()
      hash(digest, order, from, end, depth, height)
      return
    }
    const first = order[from] as number
    const fork = records.fork(first, order[end - 1] as number, depth)
    // Others may use the memory for hashing during a pause.
    const hashes = new Uint8Array(childrenLength)
    let mask = 0
    for (let start = from; start < end; ) {
      const to = endOfChild(order, start, end, fork)
      const nibble = records.nibble(order[start] as number, fork)
      await hashInTurns(order, start, to, fork + 1, height + 1, pause)
      hashes.set(digestBytes, nibble * hashLength)
      mask |= 1 << nibble
      start = to
    }
    const children = heights + height * childrenLength
    bytes.set(hashes, children)
    records.hashBranch(digest, first, depth, fork, children, mask)
  }
}

function duplicateKey(first: number, second: number): TrieError {
  const message = `Entries ${first} and ${second} have the same key`
  return new TrieError('TRIE_KEY_DUPLICATE', message, { entries: [first, second] })
}
