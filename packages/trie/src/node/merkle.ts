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

/** The nodes at one height of the tree above the children. */
interface Level {
  hashes: Buffer
  nodes: { input: Buffer; output: Buffer }[]
  /** The hash of a node without children below it. */
  empty: Buffer
}

/** Makes a tree with room of its own to work in, so that hashing a branch allocates nothing. */
export function createMerkleTree(): MerkleTree {
  const children = Buffer.alloc(RADIX * HASH_LENGTH)
  const levels: Level[] = []
  let top: Buffer = children
  let empty = NULL_HASH
  while (top.length > HASH_LENGTH) {
    empty = blake2b256(Buffer.concat([empty, empty]))
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
      return Uint8Array.from(Buffer.concat(path.reverse()))
    },
  }
}

function createLevel(below: Buffer, empty: Buffer): Level {
  const hashes = Buffer.alloc(below.length / 2)
  const nodes = Array.from({ length: hashes.length / HASH_LENGTH }, (_, i) => ({
    input: below.subarray(i * 2 * HASH_LENGTH, (i + 1) * 2 * HASH_LENGTH),
    output: hashes.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
  }))
  return { hashes, nodes, empty }
}
