import { HASH_LENGTH } from '../hash/memory.js'
import { createNodeEncoder } from '../node/codec.js'
import type { NodeHasher } from '../node/hasher.js'
import { type Branch, type Node, RADIX } from '../node/node.js'
import type { WriteNode } from '../store/store.js'

/** Hashes and writes nodes, each after its descendants. */
export interface NodeSealer {
  /**
   * Seals a node and everything that is open below it.
   *
   * @param depth index of the first nibble of its prefix or, for a leaf, of its remaining path
   * @param hash receives its hash (32 bytes)
   * @returns its id
   */
  seal(node: Node, depth: number, hash: Uint8Array, write: WriteNode): number
  /** Seals everything that is open below a branch, but not the branch. */
  sealChildren(branch: Branch, write: WriteNode): void
}

export function createNodeSealer(hasher: NodeHasher): NodeSealer {
  const encoder = createNodeEncoder()

  function seal(node: Node, depth: number, hash: Uint8Array, write: WriteNode): number {
    if (node.kind === 'leaf') {
      hasher.leaf(hash, node.path, depth, node.valueHash)
      return node.id === 0 ? write(encoder.leaf(node)) : node.id
    }
    sealChildren(node, write)
    hasher.branch(hash, node.path, depth, node.fork, hasher.merkleRoot(node.hashes, node.mask))
    return write(encoder.branch(node, depth))
  }

  function sealChildren(branch: Branch, write: WriteNode): void {
    for (let nibble = 0; nibble < RADIX; nibble += 1) {
      const child = branch.changed[nibble]
      if (child === undefined) continue
      const hash = branch.hashes.subarray(nibble * HASH_LENGTH, (nibble + 1) * HASH_LENGTH)
      branch.ids[nibble] = seal(child, branch.fork + 1, hash, write)
      branch.changed[nibble] = undefined
    }
  }

  return { seal, sealChildren }
}
