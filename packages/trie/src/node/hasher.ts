import { concatBytes } from '@ratatosk/cbor'
import { hashMemory } from '#hash'
import { copyBytes, hashLength } from '../hash/memory.js'
import { nibbleAt, pathLength } from '../path.js'
import { radix } from './node.js'

const { bytes } = hashMemory

/*
 * The binary Merkle tree over the sixteen children of a branch, in the memory for hashing. Two neighbours of
 * a height are hashed at once. Where there are no children below either, their hashes are known.
 */

const pairLength = 2 * hashLength

/** The nodes at one height: where they are, and where two of them without children below are. */
interface Level {
  readonly nodes: number
  readonly length: number
  readonly emptyPair: number
}

/** The heights above the children and below the root: eight nodes, four, two. */
const levels: readonly Level[] = createLevels()

function createLevels(): Level[] {
  let below = hashMemory.reserve(2 * pairLength)
  return [8, 4, 2].map((length) => {
    const emptyPair = hashMemory.reserve(2 * pairLength)
    hashMemory.hashPair(emptyPair, below)
    // The next height hashes two pairs.
    hashMemory.copyPair(emptyPair + pairLength, emptyPair)
    below = emptyPair
    return { nodes: hashMemory.reserve(length * hashLength), length, emptyPair }
  })
}

/** @returns where the two nodes below the root are */
function fill(children: number, mask: number): number {
  let from = children
  let below = mask
  for (const { nodes, length, emptyPair } of levels) {
    let here = 0
    for (let node = 0; node < length; node += 2) {
      // Of the children of this node and the next.
      const four = (below >> (2 * node)) & 15
      const output = nodes + node * hashLength
      if (four === 0) {
        hashMemory.copyPair(output, emptyPair)
      } else {
        hashMemory.hashPair(output, from + node * pairLength)
        here |= (((four & 3) === 0 ? 0 : 1) | ((four & 12) === 0 ? 0 : 2)) << node
      }
    }
    from = nodes
    below = here
  }
  return from
}

/**
 * Writes the Merkle root of sixteen hashes to `output`; all are offsets in the memory for hashing. Absent
 * children are zero; bit n of `mask` is set for a child under nibble n.
 */
function hashChildren(output: number, children: number, mask: number): void {
  hashMemory.hash(output, fill(children, mask), pairLength)
}

/** The four siblings (128 bytes, a copy) on the path from the Merkle root to the child under `nibble`. */
function siblingsOf(children: number, mask: number, nibble: number): Uint8Array {
  fill(children, mask)
  const heights = [children, ...levels.map(({ nodes }) => nodes)]
  const path = heights.map((nodes, height) => {
    const start = nodes + ((nibble >> height) ^ 1) * hashLength
    return bytes.subarray(start, start + hashLength)
  })
  return concatBytes(...path.reverse())
}

/** Length in bytes of the hashes of sixteen children. */
export const childrenLength = radix * hashLength

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
