import type { NodeHasher } from '../node/hasher.js'
import { type Branch, countChildren, firstChild, type Leaf } from '../node/node.js'
import { divergence, extendPath, nibbleAt } from '../path.js'
import type { LoadNode } from '../update/edit.js'
import type { ForkStep, LeafStep, ProofStep } from './proof.js'

/** The steps towards a path, and its leaf where it has one. */
export interface Walk {
  steps: ProofStep[]
  leaf: Leaf | undefined
}

/** Walks from the node `root` (0: the empty map) towards `path`, noting what stands beside the way. */
export function walk(root: number, path: Uint8Array, load: LoadNode, hasher: NodeHasher): Walk {
  const steps: ProofStep[] = []
  let id = root
  let depth = 0
  while (id !== 0) {
    const node = load(id, path, depth)
    const end = divergence(path, node.path, depth)
    if (node.kind === 'leaf') {
      if (end === 64) return { steps, leaf: node }
      steps.push(leafStep(node, end - depth))
      break
    }
    if (end < node.fork) {
      steps.push(forkStep(node, end, end - depth, hasher))
      break
    }
    const nibble = nibbleAt(path, node.fork)
    steps.push(besideChild(node, nibble, node.fork - depth, load, hasher))
    id = node.ids[nibble] ?? 0
    depth = node.fork + 1
  }
  return { steps, leaf: undefined }
}

/** The step past a branch, from which the path goes on under `nibble`. */
function besideChild(
  branch: Branch,
  nibble: number,
  skip: number,
  load: LoadNode,
  hasher: NodeHasher,
): ProofStep {
  const others = branch.mask & ~(1 << nibble)
  if (countChildren(others) > 1) {
    return { type: 'branch', skip, neighbors: hasher.siblings(branch.hashes, branch.mask, nibble) }
  }
  const other = firstChild(others)
  const path = extendPath(branch.path, branch.fork, Uint8Array.of(other))
  const neighbor = load(branch.ids[other] ?? 0, path, branch.fork + 1)
  return neighbor.kind === 'leaf' ? leafStep(neighbor, skip) : forkStep(neighbor, branch.fork, skip, hasher)
}

function leafStep({ path, valueHash }: Leaf, skip: number): LeafStep {
  return { type: 'leaf', skip, neighbor: { key: Uint8Array.from(path), value: Uint8Array.from(valueHash) } }
}

/** The step past a branch that stands under the nibble `index` of its path. */
function forkStep(neighbor: Branch, index: number, skip: number, hasher: NodeHasher): ForkStep {
  const start = index + 1
  return {
    type: 'fork',
    skip,
    neighbor: {
      nibble: nibbleAt(neighbor.path, index),
      prefix: Uint8Array.from({ length: neighbor.fork - start }, (_, i) =>
        nibbleAt(neighbor.path, start + i),
      ),
      root: Uint8Array.from(hasher.merkleRoot(neighbor.hashes, neighbor.mask)),
    },
  }
}
