import { blake2b256AnyInto, hashMemory } from '#hash'
import { TrieError } from '../errors.js'
import { hashLength, readUint16 } from '../hash/memory.js'
import { hashBranch, leafInput } from '../node/hasher.js'
import { nibbleAt } from '../path.js'
import { sortedIndexes, sortedIndexesInTurns } from './sort.js'

/** A key with its value and, if it is known, the Blake2b-256 of the key, which is not checked. */
export type TrieEntry = readonly [key: Uint8Array, value: Uint8Array, path?: Uint8Array | undefined]

const recordLength = 2 * hashLength

/** The paths and the hashes of the values of entries, one after another. */
export interface Records {
  readonly size: number
  add(entry: TrieEntry): void
  /** The path (0) or the hash of the value (1) of an entry. */
  half(entry: number, which: 0 | 1): Uint8Array
  /** Puts path and hash of the value of an entry where leaves are hashed. */
  putLeaf(entry: number): void
  nibble(entry: number, index: number): number
  /** The first nibble from `depth` on in which two paths differ. Throws `TRIE_KEY_DUPLICATE` without one. */
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
      // The nibbles before `depth` are equal.
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

function duplicateKey(first: number, second: number): TrieError {
  const message = `Entries ${first} and ${second} have the same key`
  return new TrieError('TRIE_KEY_DUPLICATE', message, { entries: [first, second] })
}
