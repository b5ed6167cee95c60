import { blake2b256AnyInto, hashMemory } from '#hash'
import { TrieError } from '../errors.js'
import { hashLength, readUint16 } from '../hash/memory.js'
import { hashBranch, leafInput } from '../node/hasher.js'
import { nibbleAt } from '../path.js'
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
const digest = hashMemory.reserve(hashLength)
const digestBytes = hashMemory.bytes.subarray(digest, digest + hashLength)

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
    hashMemory.hash(digest, scratch, input.length)
    target.set(digestBytes)
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
