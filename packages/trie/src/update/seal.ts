import { hashLength } from '../hash/memory.js'
import { createNodeEncoder } from '../node/codec.js'
import type { NodeHasher } from '../node/hasher.js'
import { type Branch, radix, type TrieNode } from '../node/node.js'
import type { WriteNode } from '../store/store.js'

/** Hashes and writes nodes, each after its descendants. */
export interface NodeSealer {
  /**
   * Seals a node and all open ones below it, and returns its id. `depth` is the first nibble of its prefix or
   * remaining path; `hashes` receives its hash (32 bytes) from `at` on, by default 0.
   */
  seal(node: TrieNode, depth: number, hashes: Uint8Array, write: WriteNode, at?: number): number
  /** Seals everything that is open below a branch, but not the branch. */
  sealChildren(branch: Branch, write: WriteNode): void
}

export function createNodeSealer(hasher: NodeHasher): NodeSealer {
  const encoder = createNodeEncoder()

  function seal(node: TrieNode, depth: number, hashes: Uint8Array, write: WriteNode, at?: number): number {
    if (node.kind === 'leaf') {
      hasher.leaf(hashes, node.path, depth, node.valueHash, at)
      return node.id === 0 ? write(encoder.leaf(node)) : node.id
    }
    sealChildren(node, write)
    hasher.branchOver(hashes, node.path, depth, node.fork, node.hashes, node.mask, at)
    return write(encoder.branch(node, depth))
  }

  function sealChildren(branch: Branch, write: WriteNode): void {
    for (let nibble = 0; nibble < radix; nibble += 1) {
      const child = branch.changed[nibble]
      if (child === undefined) continue
      branch.ids[nibble] = seal(child, branch.fork + 1, branch.hashes, write, nibble * hashLength)
      branch.changed[nibble] = undefined
    }
  }

  return { seal, sealChildren }
}
