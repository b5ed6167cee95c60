import { blake2b256AnyInto, hashMemory } from '#hash'
import { TrieError } from '../errors.js'
import { allocate, hashLength, readUint16 } from '../hash/memory.js'
import { childrenLength, hashBranch, hashLeaf, leafInput } from '../node/hasher.js'
import { nibbleAt, pathLength } from '../path.js'
import { sortedIndexes, sortedIndexesInTurns } from './sort.js'

/** A key with its value and, if it is known, the Blake2b-256 of the key, which is not checked. */
export type TrieEntry = readonly [key: Uint8Array, value: Uint8Array, path?: Uint8Array | undefined]

const recordLength = 2 * hashLength
/** Records of a page: a single array would be copied as it grows. */
const pageRecords = 1024

/** The paths and the hashes of the values of entries, one after another. */
export interface Records {
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
const hashed = hashMemory.reserve(hashLength)
const hashedBytes = hashMemory.bytes.subarray(hashed, hashed + hashLength)

export function createRecords(): Records {
  const pages: Uint8Array[] = []
  let size = 0

  const pageOf = (entry: number): Uint8Array => pages[Math.floor(entry / pageRecords)] as Uint8Array
  /** Where the record of an entry begins in its page. */
  const startOf = (entry: number): number => (entry % pageRecords) * recordLength

  const half = (entry: number, which: 0 | 1): Uint8Array => {
    const start = startOf(entry) + which * hashLength
    return pageOf(entry).subarray(start, start + hashLength)
  }

  function putHash(target: Uint8Array, input: Uint8Array): void {
    if (input.length > scratchLength) {
      blake2b256AnyInto(target, input)
      return
    }
    hashMemory.bytes.set(input, scratch)
    hashMemory.hash(hashed, scratch, input.length)
    target.set(hashedBytes)
  }

  const prefix = (entry: number): number => readUint16(pageOf(entry), startOf(entry))

  function compare(first: number, second: number): number {
    const [one, other] = [pageOf(first), pageOf(second)]
    const [a, b] = [startOf(first), startOf(second)]
    for (let i = 0; i < hashLength; i += 1) {
      const difference = (one[a + i] as number) - (other[b + i] as number)
      if (difference !== 0) return difference
    }
    return 0
  }

  return {
    get size() {
      return size
    },

    add([key, value, path]) {
      if (size % pageRecords === 0) pages.push(new Uint8Array(pageRecords * recordLength))
      if (path === undefined) putHash(half(size, 0), key)
      else half(size, 0).set(path)
      putHash(half(size, 1), value)
      size += 1
    },

    half,

    putLeaf(entry) {
      const { bytes } = hashMemory
      const [page, start] = [pageOf(entry), startOf(entry)]
      for (let i = 0; i < recordLength; i += 1) bytes[leafInput + i] = page[start + i] as number
    },

    nibble: (entry, index) => nibbleAt(pageOf(entry), 2 * startOf(entry) + index),

    fork(first, last, depth) {
      const [one, other] = [pageOf(first), pageOf(last)]
      const [a, b] = [startOf(first), startOf(last)]
      // The digits before `depth` are equal.
      for (let i = depth >> 1; i < hashLength; i += 1) {
        const difference = (one[a + i] as number) ^ (other[b + i] as number)
        if (difference !== 0) return 2 * i + (difference < 0x10 ? 1 : 0)
      }
      throw duplicateKey(Math.min(first, last), Math.max(first, last))
    },

    sorted: () => sortedIndexes(size, prefix, compare),

    sortedInTurns: (pause) => sortedIndexesInTurns(size, prefix, compare, pause),

    hashBranch(output, entry, depth, fork, hashes, mask) {
      hashBranch(output, pageOf(entry), 2 * startOf(entry) + depth, fork - depth, hashes, mask)
    },
  }
}

function duplicateKey(first: number, second: number): TrieError {
  const message = `Entries ${first} and ${second} have the same key`
  return new TrieError('TRIE_KEY_DUPLICATE', message, { entries: [first, second] })
}

/** Entries that are hashed in one turn of the event loop: some 10 ms. */
const entriesInTurn = 8192

/** About 10 ms of hashing. */
const entriesBetweenPauses = 4096

/**
 * The root of the map of these entries, in any order: what `rebuild` would return, without keeping anything.
 * An entry is read before the next one is asked for, so they may share memory.
 *
 * @param pause awaited at intervals; without it the whole work is one turn of the event loop
 * @returns 32 bytes; `emptyRoot()` without entries
 * @throws TrieError (rejects) `TRIE_KEY_DUPLICATE`
 * @example
 * equalBytes(await rootOf([[key, value]]), trie.root) // true if the trie holds just that
 */
export async function rootOf(entries: Iterable<TrieEntry>, pause?: () => Promise<void>): Promise<Uint8Array> {
  const builder = createRootBuilder()
  let added = 0
  for (const entry of entries) {
    builder.add(entry)
    if (pause !== undefined && ++added % entriesBetweenPauses === 0) await pause()
  }
  return builder.root(pause)
}

/** Collects entries in any order and computes the root of their map, but none of its nodes. */
interface RootBuilder {
  add(entry: TrieEntry): void
  /** The root, 32 bytes; rejects with `TRIE_KEY_DUPLICATE`. `pause` is awaited at intervals of some 10 ms. */
  root(pause?: () => Promise<void>): Promise<Uint8Array>
}

/** Where the hashes of the children of branches are while they are computed: a place for each height. */
const heights = hashMemory.reserve(pathLength * childrenLength)
const digest = hashMemory.reserve(hashLength)

function copyOfDigest(): Uint8Array {
  const copy = allocate(hashLength)
  copy.set(hashMemory.bytes.subarray(digest, digest + hashLength))
  return copy
}

function createRootBuilder(): RootBuilder {
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
      if (order.length === 0) return allocate(hashLength)
      if (pause !== undefined && order.length > 1) return hashInTurns(order, 0, order.length, 0, 0, pause)
      hash(digest, order, 0, order.length, 0, 0)
      return copyOfDigest()
    },
  }

  /**
   * {@link hash} with pauses before the children of the topmost branches. Others hash in this thread during a
   * pause, and before the caller goes on, so the hash is returned as a copy.
   */
  async function hashInTurns(
    order: Uint32Array,
    from: number,
    end: number,
    depth: number,
    height: number,
    pause: () => Promise<void>,
  ): Promise<Uint8Array> {
    if (end - from < entriesInTurn) {
      await pause()
      hash(digest, order, from, end, depth, height)
      return copyOfDigest()
    }
    const first = order[from] as number
    const fork = records.fork(first, order[end - 1] as number, depth)
    const hashes = new Uint8Array(childrenLength)
    let mask = 0
    for (let start = from; start < end; ) {
      const to = endOfChild(order, start, end, fork)
      const nibble = records.nibble(order[start] as number, fork)
      hashes.set(await hashInTurns(order, start, to, fork + 1, height + 1, pause), nibble * hashLength)
      mask |= 1 << nibble
      start = to
    }
    const children = heights + height * childrenLength
    bytes.set(hashes, children)
    records.hashBranch(digest, first, depth, fork, children, mask)
    return copyOfDigest()
  }
}
