import { blake2b256, blake2b256Into, HASH_LENGTH, NULL_HASH } from '../hash.js'
import { RADIX } from './node.js'

/** The binary Merkle tree over the sixteen children of a branch. */
export interface MerkleTree {
  /**
   * @param hashes sixteen hashes of 32 bytes, zero where there is no child
   * @param mask which of them are there
   * @returns the root, valid until the next call
   */
  root(hashes: Uint8Array, mask: number): Buffer
  /** The four siblings (128 bytes, a copy) on the way from the root down to the child under `nibble`. */
  siblings(hashes: Uint8Array, mask: number, nibble: number): Uint8Array
}

interface Level {
  nodes: Buffer
  /** The nodes of this level one by one, and two by two: the input of the level above. */
  single: Buffer[]
  pairs: Buffer[]
  /** The hash of a node under which there is no child. */
  empty: Buffer
}

/** Makes a tree with room of its own to work in, so that hashing a branch allocates nothing. */
export function createMerkleTree(): MerkleTree {
  const children = createLevel(RADIX, NULL_HASH)
  const levels = [children]
  for (let below = children; below.single.length > 1; ) {
    below = createLevel(below.single.length / 2, blake2b256(Buffer.concat([below.empty, below.empty])))
    levels.push(below)
  }
  const inner = levels.slice(1)
  const top = Buffer.allocUnsafe(HASH_LENGTH)

  function fill(hashes: Uint8Array, mask: number): void {
    children.nodes.set(hashes)
    let below = children
    let present = mask
    for (const level of inner) {
      let above = 0
      for (let i = 0; i < level.single.length; i += 1) {
        const output = level.single[i] ?? top
        if (((present >> (2 * i)) & 3) === 0) {
          output.set(level.empty)
        } else {
          blake2b256Into(output, below.pairs[i] ?? top)
          above |= 1 << i
        }
      }
      below = level
      present = above
    }
  }

  return {
    root(hashes, mask) {
      fill(hashes, mask)
      return levels.at(-1)?.nodes ?? top
    },

    siblings(hashes, mask, nibble) {
      fill(hashes, mask)
      const path = levels.slice(0, -1).map((level, height) => level.single[(nibble >> height) ^ 1] ?? top)
      return Uint8Array.from(Buffer.concat(path.reverse()))
    },
  }
}

function createLevel(size: number, empty: Buffer): Level {
  const nodes = Buffer.alloc(size * HASH_LENGTH)
  const cut = (length: number): Buffer[] =>
    Array.from({ length: Math.floor(nodes.length / length) }, (_, i) =>
      nodes.subarray(i * length, (i + 1) * length),
    )
  return { nodes, single: cut(HASH_LENGTH), pairs: cut(2 * HASH_LENGTH), empty }
}
