import { blake2b256Into, HASH_LENGTH } from '../hash.js'
import { nibbleAt, PATH_LENGTH } from '../path.js'
import { createMerkleTree } from './merkle.js'

/** Hashes nodes, and the parts of nodes that proofs name, with room of its own to work in. */
export interface NodeHasher {
  /** Writes to `output` the hash of a leaf whose remaining path begins at nibble `depth` (0–64) of `path`. */
  leaf(output: Buffer, path: Uint8Array, depth: number, valueHash: Uint8Array): void
  /**
   * Writes to `output` the hash of a branch with the nibbles `depth` to `fork` of `path` as its prefix, over children
   * whose Merkle root is `merkleRoot`.
   */
  branch(output: Buffer, path: Uint8Array, depth: number, fork: number, merkleRoot: Uint8Array): void
  /** The Merkle root (32 bytes, valid until the next call) of sixteen hashes, of which those in `mask` are there. */
  merkleRoot(hashes: Uint8Array, mask: number): Buffer
  /** The four siblings (128 bytes, a copy) of the child under `nibble`, from the half of eight downwards. */
  siblings(hashes: Uint8Array, mask: number, nibble: number): Uint8Array
}

export function createNodeHasher(): NodeHasher {
  const tree = createMerkleTree()

  // Both inputs end at a fixed place and begin where their length wants it, so that each is filled without moving
  // anything.
  const leafInput = Buffer.alloc(2 + 2 * HASH_LENGTH)
  const branchInput = Buffer.alloc(PATH_LENGTH + HASH_LENGTH)
  const leafInputs = tailsOf(leafInput)
  const branchInputs = tailsOf(branchInput)

  return {
    leaf(output, path, depth, valueHash) {
      leafInput.set(path, 2)
      leafInput.set(valueHash, 2 + HASH_LENGTH)
      // The byte in front of the first whole byte of the remaining path.
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

/** What follows each place of a buffer, made once: a view costs as much as a hash of it. */
function tailsOf(buffer: Buffer): Buffer[] {
  return Array.from(buffer, (_, start) => buffer.subarray(start))
}
