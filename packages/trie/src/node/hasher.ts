import { hashMemory } from '#hash'
import { copyBytes, hashLength } from '../hash/memory.js'
import { nibbleAt, pathLength } from '../path.js'
import { childrenLength, hashChildren, siblingsOf } from './merkle.js'

const { bytes } = hashMemory

/** Where what is to be hashed is put. A leaf is preceded by what its hash begins with. */
const children = hashMemory.reserve(childrenLength)
const leaf = hashMemory.reserve(16 + 2 * hashLength) + 16
const prefixEnd = hashMemory.reserve(pathLength + hashLength) + pathLength
const result = hashMemory.reserve(hashLength)
const resultBytes = bytes.subarray(result, result + hashLength)

/** Where a leaf to hash is to be put, for {@link hashLeaf}: path, then hash of the value. */
export const leafInput = leaf

/**
 * Writes the hash of the leaf at {@link leafInput}, which is overwritten, to the offset `output`. `depth` is
 * the index of the first nibble of its remaining path, 0–64.
 */
export function hashLeaf(output: number, depth: number): void {
  const first = leaf + (depth >> 1)
  const start = first - 1
  if (depth % 2 === 0) {
    bytes[start] = 0xff
  } else {
    bytes[first] = (bytes[first] ?? 0) & 0x0f
    bytes[start] = 0x00
  }
  hashMemory.hash(output, start, leaf + 2 * hashLength - start)
}

/**
 * Writes the hash of a branch to the offset `output`. `length` of the nibbles from `first` on are the prefix;
 * `hashes` is the offset of its children's hashes.
 */
export function hashBranch(
  output: number,
  nibbles: Uint8Array,
  first: number,
  length: number,
  hashes: number,
  mask: number,
): void {
  hashChildren(prefixEnd, hashes, mask)
  hashPrefixed(output, nibbles, first, length)
}

function hashPrefixed(output: number, nibbles: Uint8Array, first: number, length: number): void {
  const start = prefixEnd - length
  for (let i = 0; i < length; i += 1) bytes[start + i] = nibbleAt(nibbles, first + i)
  hashMemory.hash(output, start, length + hashLength)
}

/** Hashes nodes, and the parts of nodes that proofs contain, in the memory for hashing. */
export const hasher = {
  /** Writes the hash of a leaf whose remaining path begins at nibble `depth` (0–64) from `at` on. */
  leaf(output: Uint8Array, path: Uint8Array, depth: number, valueHash: Uint8Array, at = 0): void {
    copyBytes(bytes, leaf, path, 0, hashLength)
    copyBytes(bytes, leaf + hashLength, valueHash, 0, hashLength)
    hashLeaf(result, depth)
    copyBytes(output, at, bytes, result, hashLength)
  },

  /** Writes the hash of a branch: its prefix is the nibbles `depth` to `fork` of `path`. */
  branch(output: Uint8Array, path: Uint8Array, depth: number, fork: number, merkleRoot: Uint8Array): void {
    bytes.set(merkleRoot, prefixEnd)
    hashPrefixed(result, path, depth, fork - depth)
    output.set(resultBytes)
  },

  /** The same over sixteen hashes, of which `mask` says which are children. */
  branchOver(
    output: Uint8Array,
    path: Uint8Array,
    depth: number,
    fork: number,
    hashes: Uint8Array,
    mask: number,
    at = 0,
  ): void {
    bytes.set(hashes, children)
    hashBranch(result, path, depth, fork - depth, children, mask)
    copyBytes(output, at, bytes, result, hashLength)
  },

  /** The Merkle root (32 bytes, a copy) of sixteen hashes. */
  merkleRoot(hashes: Uint8Array, mask: number): Uint8Array {
    bytes.set(hashes, children)
    hashChildren(result, children, mask)
    return Uint8Array.from(resultBytes)
  },

  /** The four siblings (128 bytes, a copy) of the child under `nibble`, from the half of eight down. */
  siblings(hashes: Uint8Array, mask: number, nibble: number): Uint8Array {
    bytes.set(hashes, children)
    return siblingsOf(children, mask, nibble)
  },
} as const
