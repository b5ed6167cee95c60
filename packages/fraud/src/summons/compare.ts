import { equalBytes } from '@ratatosk/cbor'
import {
  branchesOnWay,
  childHash,
  divergence,
  extendPath,
  type MapBranch,
  type MapLeaf,
  type MapNode,
  nibbleAt,
  nodeHash,
  type PassedBranch,
  type Proof,
  pathLength,
  stepAway,
  stepBeside,
  type TrieView,
} from '@ratatosk/trie'
import { childAt, firstLeaf, otherLeaf } from './answer.js'
import { isBranchAnswer, type NodeAnswer, type ShownLeaf, type ShownNode } from './node-answer.js'
import { type Part, shownLevels } from './ways.js'

/** A node of the posted map: what a question is about. */
export interface Place {
  /** Its first `depth` nibbles lead to the node. */
  readonly path: Uint8Array
  readonly depth: number
  readonly hash: Uint8Array
  /** From the root to the node. */
  readonly steps: Proof
  /** The children among which the difference is, if these are not all. */
  readonly part?: Part
}

/** A key whose value in the posted map is not the true one. */
export interface Difference {
  /** Blake2b-256 of the key. */
  readonly path: Uint8Array
  /** The proven node of the posted map there. */
  readonly posted: { readonly hash?: Uint8Array; readonly proof: Proof }
  /** The posted entry of a transactions map. */
  readonly entry?: ShownLeaf['entry']
}

export interface Found {
  readonly differences: Difference[]
  /** Nodes to ask about. */
  readonly places: Place[]
}

/** Compares the answer about a place with the true map. @throws RangeError if it is about another */
export function examine(truth: TrieView, place: Place, answer: NodeAnswer): Found {
  const found: Found = { differences: [], places: [] }
  if ('absent' in answer) unexpected()
  if (!isBranchAnswer(answer) && answer.steps.length > 0) {
    const { node, steps } = answer
    found.differences.push(wrong(truth, node, [...place.steps, ...steps]) ?? unexpected())
    return found
  }
  requireHash(place, answer.node)
  compare(truth, place, answer.node, found, isBranchAnswer(answer) ? answer.children : undefined)
  const isNothing = found.places.length + found.differences.length === 0
  return isNothing || found.places.includes(place) ? unexpected() : found
}

/** Compares the way to a true entry with the true one, below what the answer about the subtree shows. */
export function examineWay(truth: TrieView, place: Place, path: Uint8Array, answer: NodeAnswer): Found {
  const found: Found = { differences: [], places: [] }
  const { differences } = found
  if (isBranchAnswer(answer)) return unexpected()
  if ('absent' in answer || !equalBytes(answer.node.path, path)) {
    const proof = 'absent' in answer ? answer.absent : [stepAway(answer.node, 0, path)]
    differences.push(absent({ path }, proof))
    return found
  }
  const { node, steps } = answer
  const difference = wrong(truth, node, steps)
  if (difference !== undefined) {
    differences.push(difference)
    return found
  }
  const passed = branchesOnWay(path, node.valueHash, steps)
  const above = passed.filter(({ depth }) => depth < place.depth).length
  for (const [index, branch] of passed.entries())
    if (index >= above + shownLevels) compareBeside(truth, path, branch, steps.slice(0, index), found)
  return found
}

/** Compares what is beside the way to a true entry at one branch. */
function compareBeside(
  truth: TrieView,
  path: Uint8Array,
  { depth, fork, hash, step, branch }: PassedBranch,
  steps: Proof,
  found: Found,
): void {
  const place: Place = { path, depth, hash, steps }
  const node = truth.nodeAt(path, depth)
  if (node?.kind !== 'branch' || node.fork !== fork) {
    found.places.push(place)
    return
  }
  const own = nibbleAt(path, fork)
  if (step.type === 'branch') {
    const { neighbors } = stepBeside(node, depth, own)
    for (const [index, size] of [8, 4, 2, 1].entries()) {
      const posted = siblingAt(step.neighbors, index)
      if (!equalBytes(posted, siblingAt(neighbors, index)))
        found.places.push({ ...place, part: { from: (own & -size) ^ size, size } })
    }
    return
  }
  // A leaf beside the way is asked for too: its key may be needed, and a branch could have its hash.
  if (branch !== undefined) compareChildren(truth, { ...place, node }, branch, found, undefined, own)
}

const siblingAt = (siblings: Uint8Array, index: number): Uint8Array =>
  siblings.subarray(32 * index, 32 * (index + 1))

function requireHash({ depth, hash }: Place, node: MapNode): void {
  if (!equalBytes(nodeHash(node, depth), hash)) unexpected()
}

/** Compares a posted node with the true one. @param children of the posted node, if they are known */
function compare(
  truth: TrieView,
  place: Place,
  posted: ShownNode,
  found: Found,
  children?: readonly (ShownNode | undefined)[],
): void {
  const { depth, steps } = place
  const { differences, places } = found
  const node = truth.nodeAt(place.path, depth)
  const missing = (leaf: MapLeaf): Difference => absent(leaf, [...steps, stepAway(posted, depth, leaf.path)])
  if (posted.kind === 'leaf') {
    const difference = wrong(truth, posted, steps)
    if (difference !== undefined) differences.push(difference)
    else if (node?.kind === 'branch') differences.push(missing(otherLeaf(truth, node, posted.path)))
    return
  }
  // No one can answer for a branch with one child: no map has one.
  if (node?.kind !== 'branch' || childCount(posted) < 2) {
    places.push(place)
    return
  }
  const common = Math.min(divergence(posted.path, node.path, depth), posted.fork, node.fork)
  if (common < posted.fork)
    differences.push(
      missing(common < node.fork ? firstLeaf(truth, node) : otherLeaf(truth, node, posted.path)),
    )
  else compareChildren(truth, { ...place, node }, posted, found, children)
}

const childCount = (branch: MapBranch): number =>
  Array.from({ length: 16 }, (_, nibble) => childHash(branch, nibble)).filter(Boolean).length

/** The branch has all true keys below: compares where they are below its children. */
function compareChildren(
  truth: TrieView,
  { depth, steps, node }: Place & { readonly node: MapBranch },
  posted: MapBranch,
  found: Found,
  children: readonly (ShownNode | undefined)[] | undefined,
  except?: number,
): void {
  for (let nibble = 0; nibble < 16; nibble++) {
    if (nibble === except) continue
    const hash = childHash(posted, nibble)
    const path = extendPath(posted.path, posted.fork, Uint8Array.of(nibble))
    const below = posted.fork + 1
    const beside = [...steps, stepBeside(posted, depth, nibble)]
    const truly = node.fork === posted.fork ? childAt(truth, node, nibble) : truth.nodeAt(path, below)
    if (hash === undefined) {
      if (truly !== undefined) found.differences.push(absent(firstLeaf(truth, truly), beside))
      continue
    }
    if (truly !== undefined && equalBytes(nodeHash(truly, below), hash)) continue
    const place = { path, depth: below, hash, steps: beside }
    const child = children?.[nibble]
    if (child === undefined) found.places.push(place)
    else compare(truth, place, child, found)
  }
}

/** The difference at the path of a posted leaf; undefined if it is true. */
function wrong(truth: TrieView, leaf: ShownLeaf, proof: Proof): Difference | undefined {
  const node = truth.nodeAt(leaf.path, pathLength)
  if (node?.kind === 'leaf' && equalBytes(node.valueHash, leaf.valueHash)) return undefined
  return present(leaf, proof)
}

/** The opening of a leaf of the posted map. */
export const present = ({ path, valueHash, entry }: ShownLeaf, proof: Proof): Difference => ({
  path,
  posted: { hash: valueHash, proof },
  ...(entry && { entry }),
})

/** The opening of a path that the posted map does not have. */
export const absent = ({ path }: Pick<MapLeaf, 'path'>, proof: Proof): Difference => ({
  path,
  posted: { proof },
})

function unexpected(): never {
  throw new RangeError('An answer is not one to its question')
}
