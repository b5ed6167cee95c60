import { blake2b256Into } from '#hash'
import { allocate, HASH_LENGTH } from '../hash/memory.js'
import { nibbleAt, PATH_LENGTH } from '../path.js'
import { createMerkleTree } from './merkle.js'

/** Hashes nodes, and the parts of nodes that proofs contain, in its own working memory. */
export interface NodeHasher {
  /** Writes to `output` the hash of a leaf whose remaining path begins at nibble `depth` (0–64) of `path`. */
  leaf(output: Uint8Array, path: Uint8Array, depth: number, valueHash: Uint8Array): void
  /**
   * Writes to `output` the hash of a branch with the nibbles `depth` to `fork` of `path` as its prefix, over
   * children whose Merkle root is `merkleRoot`.
   */
  branch(output: Uint8Array, path: Uint8Array, depth: number, fork: number, merkleRoot: Uint8Array): void
  /**
   * The Merkle root (32 bytes, valid until the next call) of sixteen hashes, of which `mask` says which are
   * children.
   */
  merkleRoot(hashes: Uint8Array, mask: number): Uint8Array
  /** The four siblings (128 bytes, a copy) of the child under `nibble`, from the half of eight down. */
  siblings(hashes: Uint8Array, mask: number, nibble: number): Uint8Array
}

export function createNodeHasher(): NodeHasher {
  const tree = createMerkleTree()

  // Both inputs end at a fixed offset and start where their length requires, so nothing is moved to fill
  // them.
  const leafInput = allocate(2 + 2 * HASH_LENGTH)
  const branchInput = allocate(PATH_LENGTH + HASH_LENGTH)
  const leafInputs = tailsOf(leafInput)
  const branchInputs = tailsOf(branchInput)

  return {
    leaf(output, path, depth, valueHash) {
      leafInput.set(path, 2)
      leafInput.set(valueHash, 2 + HASH_LENGTH)
      // The byte before the first whole byte of the remaining path.
      const front = 1 + ((depth + 1) >> 1)
      let start = front
      if (depth % 2 === 0) {
        leafInput[front] = 0xff
      } else {
        leafInput[front] = nibbleAt(path, depth)
        start = front - 1
        leafInput[start] = 0x00
      }
      blake2b256Into(output, leafInputs[start] ?? leafInput)
    },

    branch(output, path, depth, fork, merkleRoot) {
      const start = PATH_LENGTH - (fork - depth)
      for (let i = start; i < PATH_LENGTH; i += 1) branchInput[i] = nibbleAt(path, depth + i - start)
      branchInput.set(merkleRoot, PATH_LENGTH)
      blake2b256Into(output, branchInputs[start] ?? branchInput)
    },

    merkleRoot: tree.root,
    siblings: tree.siblings,
  }
}

/** The views of a buffer from each offset to its end, created once: a view costs as much as a hash of it. */
function tailsOf(buffer: Uint8Array): Uint8Array[] {
  return Array.from(buffer, (_, start) => buffer.subarray(start))
}
