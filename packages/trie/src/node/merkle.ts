import { concatBytes } from '@ratatosk/cbor'
import { blake2b256, blake2b256Into } from '#hash'
import { allocate, HASH_LENGTH, NULL_HASH } from '../hash/memory.js'
import { RADIX } from './node.js'

/** The binary Merkle tree over the sixteen children of a branch. */
export interface MerkleTree {
  /**
   * @param hashes sixteen hashes of 32 bytes, zero where there is no child
   * @param mask bit n is set if there is a child under nibble n
   * @returns the root, valid until the next call
   */
  root(hashes: Uint8Array, mask: number): Uint8Array
  /** The four siblings (128 bytes, a copy) on the path from the root to the child under `nibble`. */
  siblings(hashes: Uint8Array, mask: number, nibble: number): Uint8Array
}

/** The nodes at one height of the tree above the children. */
interface Level {
  hashes: Uint8Array
  nodes: { input: Uint8Array; output: Uint8Array }[]
  /** The hash of a node without children below it. */
  empty: Uint8Array
}

/** Creates a tree with its own working memory, so that hashing a branch allocates nothing. */
export function createMerkleTree(): MerkleTree {
  const children = allocate(RADIX * HASH_LENGTH)
  const levels: Level[] = []
  let top = children
  let empty = NULL_HASH
  while (top.length > HASH_LENGTH) {
    empty = blake2b256(concatBytes(empty, empty))
    const level = createLevel(top, empty)
    levels.push(level)
    top = level.hashes
  }

  function fill(hashes: Uint8Array, mask: number): void {
    children.set(hashes)
    let below = mask
    for (const { nodes, empty } of levels) {
      let here = 0
      let bit = 1
      for (const { input, output } of nodes) {
        if ((below & 3) === 0) {
          output.set(empty)
        } else {
          blake2b256Into(output, input)
          here |= bit
        }
        below >>= 2
        bit <<= 1
      }
      below = here
    }
  }

  return {
    root(hashes, mask) {
      fill(hashes, mask)
      return top
    },

    siblings(hashes, mask, nibble) {
      fill(hashes, mask)
      const heights = [children, ...levels.map((level) => level.hashes)].slice(0, -1)
      const path = heights.map((nodes, height) => {
        const start = ((nibble >> height) ^ 1) * HASH_LENGTH
        return nodes.subarray(start, start + HASH_LENGTH)
      })
      return concatBytes(...path.reverse())
    },
  }
}

function createLevel(below: Uint8Array, empty: Uint8Array): Level {
  const hashes = allocate(below.length / 2)
  const nodes = Array.from({ length: hashes.length / HASH_LENGTH }, (_, i) => ({
    input: below.subarray(i * 2 * HASH_LENGTH, (i + 1) * 2 * HASH_LENGTH),
    output: hashes.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
  }))
  return { hashes, nodes, empty }
}
