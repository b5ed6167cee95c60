import { hasher } from '../node/hasher.js'
import { type Branch, countChildren, firstChild, type Leaf, type TrieNode } from '../node/node.js'
import { divergence, extendPath, nibbleAt, nibblesOf, pathLength } from '../path.js'
import type { LoadNode } from '../update/edit.js'

/** The statement of a proof about one branch on the path from the root to a key. */
export type ProofStep = BranchStep | ForkStep | LeafStep

/** A branch with two or more children besides the one on the path. */
export interface BranchStep {
  type: 'branch'
  /** Length of the branch's prefix in nibbles. */
  skip: number
  /** Four hashes, 128 bytes: the siblings in the Merkle tree of sixteen, from the half of eight down. */
  neighbors: Uint8Array
}

/** A branch whose only other child is a branch. */
export interface ForkStep {
  type: 'fork'
  /** Length of the prefix in nibbles. */
  skip: number
  neighbor: {
    /** The nibble (0–15) of the neighbour. */
    nibble: number
    /** The neighbour's own prefix, one nibble per byte. */
    prefix: Uint8Array
    /** The Merkle root of the neighbour's children, 32 bytes. */
    root: Uint8Array
  }
}

/** A branch whose only other child is a leaf. */
export interface LeafStep {
  type: 'leaf'
  /** Length of the prefix in nibbles. */
  skip: number
  neighbor: {
    /** The neighbour's whole path, 32 bytes. */
    key: Uint8Array
    /** The hash of the neighbour's value, 32 bytes. */
    value: Uint8Array
  }
}

/**
 * Determines the root of a map with a key and of the same map without it: one step for each branch on the
 * path, from the root down. The proof of an absent key is the proof that the key would have if it were
 * inserted.
 */
export type Proof = readonly ProofStep[]

/** The steps towards a path, and its leaf if it has one. */
export interface Walk {
  steps: ProofStep[]
  leaf: Leaf | undefined
}

/** Walks towards a path and collects the neighbours. */
export function walk(root: number, path: Uint8Array, load: LoadNode): Walk {
  const steps: ProofStep[] = []
  for (const { node, depth, end } of descend(root, path, load)) {
    if (node.kind === 'leaf') {
      if (end === pathLength) return { steps, leaf: node }
      steps.push(leafStep(node, end - depth))
    } else if (end < node.fork) {
      steps.push(forkStep(node, end, end - depth))
    } else {
      steps.push(besideChild(node, nibbleAt(path, node.fork), node.fork - depth, load))
    }
  }
  return { steps, leaf: undefined }
}

/**
 * The nodes from the root (0 if there is none) towards a path, to its leaf or where it leaves the trie. The
 * prefix of each, or its remaining path, starts at nibble `depth` and differs at nibble `end`.
 */
export function* descend(
  root: number,
  path: Uint8Array,
  load: LoadNode,
): Generator<{ id: number; node: TrieNode; depth: number; end: number }> {
  let id = root
  let depth = 0
  while (id !== 0) {
    const node = load(id, path, depth)
    const end = divergence(path, node.path, depth)
    yield { id, node, depth, end }
    if (node.kind === 'leaf' || end < node.fork) return
    id = node.ids[nibbleAt(path, node.fork)] ?? 0
    depth = node.fork + 1
  }
}

/** The step past a branch whose child under `nibble` is on the path. */
function besideChild(branch: Branch, nibble: number, skip: number, load: LoadNode): ProofStep {
  const others = branch.mask & ~(1 << nibble)
  if (countChildren(others) > 1) {
    return { type: 'branch', skip, neighbors: hasher.siblings(branch.hashes, branch.mask, nibble) }
  }
  const other = firstChild(others)
  const path = extendPath(branch.path, branch.fork, Uint8Array.of(other))
  const neighbor = load(branch.ids[other] ?? 0, path, branch.fork + 1)
  return neighbor.kind === 'leaf' ? leafStep(neighbor, skip) : forkStep(neighbor, branch.fork, skip)
}

export function leafStep({ path, valueHash }: Pick<Leaf, 'path' | 'valueHash'>, skip: number): LeafStep {
  return { type: 'leaf', skip, neighbor: { key: Uint8Array.from(path), value: Uint8Array.from(valueHash) } }
}

/** The step beside a branch that hangs under the nibble `index` of its path. */
export function forkStep(
  neighbor: Pick<Branch, 'path' | 'fork' | 'hashes' | 'mask'>,
  index: number,
  skip: number,
): ForkStep {
  return {
    type: 'fork',
    skip,
    neighbor: {
      nibble: nibbleAt(neighbor.path, index),
      prefix: nibblesOf(neighbor.path, index + 1, neighbor.fork),
      root: hasher.merkleRoot(neighbor.hashes, neighbor.mask),
    },
  }
}
