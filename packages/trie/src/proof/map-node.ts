import { allocate, hashLength } from '../hash/memory.js'
import { hasher } from '../node/hasher.js'
import { radix, type TrieNode } from '../node/node.js'
import { divergence } from '../path.js'
import type { LoadNode } from '../update/edit.js'
import { type BranchStep, descend, type ForkStep, forkStep, type LeafStep, leafStep } from './proof.js'

/** A key with its value. */
export interface MapLeaf {
  readonly kind: 'leaf'
  /** Blake2b-256 of the key: 64 nibbles. */
  readonly path: Uint8Array
  /** Blake2b-256 of the value. */
  readonly valueHash: Uint8Array
}

/** A branch of a map, without what is below its children. */
export interface MapBranch {
  readonly kind: 'branch'
  /** Its first `fork` nibbles are those of all keys below; the rest is unspecified. */
  readonly path: Uint8Array
  /** Index of the nibble, 0 to 63, in which the children differ. */
  readonly fork: number
  /** Sixteen hashes of 32 bytes; zero where there is no child. */
  readonly children: Uint8Array
}

/** A node of a map: what a question about a part of the map is about. */
export type MapNode = MapLeaf | MapBranch

/** The node that holds all keys whose paths begin with the first `depth` nibbles of `path`. */
export function findNode(
  root: number,
  path: Uint8Array,
  depth: number,
  load: LoadNode,
): { readonly id: number; readonly node: TrieNode } | undefined {
  for (const { id, node, end } of descend(root, path, load)) {
    const reached = node.kind === 'leaf' || node.fork >= depth
    if (reached) return end >= depth ? { id, node } : undefined
  }
  return undefined
}

export function mapNodeOf(node: TrieNode): MapNode {
  const path = Uint8Array.from(node.path)
  return node.kind === 'leaf'
    ? { kind: 'leaf', path, valueHash: Uint8Array.from(node.valueHash) }
    : { kind: 'branch', path, fork: node.fork, children: Uint8Array.from(node.hashes) }
}

/** The hash of a node that hangs below `depth` nibbles, 32 bytes. */
export function nodeHash(node: MapNode, depth: number): Uint8Array {
  const hash = allocate(hashLength)
  if (node.kind === 'leaf') hasher.leaf(hash, node.path, depth, node.valueHash)
  else hasher.branchOver(hash, node.path, depth, node.fork, node.children, maskOf(node))
  return Uint8Array.from(hash)
}

/** The hash of the child under a nibble, 32 bytes; undefined if there is none. */
export function childHash({ children }: MapBranch, nibble: number): Uint8Array | undefined {
  const hash = children.subarray(nibble * hashLength, (nibble + 1) * hashLength)
  return hash.some((byte) => byte !== 0) ? hash : undefined
}

/** The step of a proof past a branch that hangs below `depth` nibbles, beside its child under `nibble`. */
export const stepBeside = (branch: MapBranch, depth: number, nibble: number): BranchStep => ({
  type: 'branch',
  skip: branch.fork - depth,
  neighbors: hasher.siblings(branch.children, maskOf(branch), nibble),
})

/** The last step of a proof that a path, which leaves the map at a node below `depth` nibbles, is absent. */
export function stepAway(node: MapNode, depth: number, path: Uint8Array): ForkStep | LeafStep {
  const end = divergence(path, node.path, depth)
  if (node.kind === 'leaf') return leafStep(node, end - depth)
  const { fork, children } = node
  return forkStep({ path: node.path, fork, hashes: children, mask: maskOf(node) }, end, end - depth)
}

function maskOf(branch: MapBranch): number {
  let mask = 0
  for (let nibble = 0; nibble < radix; nibble += 1)
    if (childHash(branch, nibble) !== undefined) mask |= 1 << nibble
  return mask
}
