import { concatBytes } from '@ratatosk/cbor'
import { hashMemory } from '#hash'
import { hashLength } from '../hash/memory.js'
import { radix } from './node.js'

/*
 * The binary Merkle tree over the sixteen children of a branch, in the memory for hashing. Two neighbours of
 * a height are hashed at once. Where there are no children below either, their hashes are known.
 */

const { bytes } = hashMemory
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
export function hashChildren(output: number, children: number, mask: number): void {
  hashMemory.hash(output, fill(children, mask), pairLength)
}

/** The four siblings (128 bytes, a copy) on the path from the Merkle root to the child under `nibble`. */
export function siblingsOf(children: number, mask: number, nibble: number): Uint8Array {
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
