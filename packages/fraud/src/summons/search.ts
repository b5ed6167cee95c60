import { equalBytes } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import {
  childHash,
  divergence,
  extendPath,
  type MapBranch,
  type MapLeaf,
  type MapNode,
  nodeHash,
  type Proof,
  pathLength,
  stepAway,
  stepBeside,
  type TrieView,
} from '@ratatosk/trie'
import { childAt, firstLeaf, otherLeaf } from './answer.js'
import { isBranchAnswer, type NodeAnswer, nodeKey, type ShownLeaf, type ShownNode } from './node-answer.js'

/** A node of the posted map: what a question is about. */
interface Place {
  /** Its first `depth` nibbles lead to the node. */
  readonly path: Uint8Array
  readonly depth: number
  readonly hash: Uint8Array
  /** From the root to the node. */
  readonly steps: Proof
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

/** A question, without the header that it is about. */
export interface NextQuestion extends Pick<SummonsQuestion, 'kind' | 'key' | 'hash'> {
  /** The asker's proof: from the root to the node. */
  readonly steps: Proof
}

export type SearchResult =
  | { readonly kind: 'question'; readonly question: NextQuestion }
  | { readonly kind: 'difference'; readonly difference: Difference }
  /** The posted root is the true one. */
  | { readonly kind: 'none' }

/**
 * Searches for a difference between the map of a posted root and the true map. Each question descends two
 * branches of the true map, whose depth so bounds their number; what the posted map adds costs one more.
 *
 * @param truth the map that follows from the block
 * @param answers those to the questions so far, which the summons has accepted, in order
 * @throws RangeError if an answer is not one to its question
 */
export function nextQuestion(
  truth: TrieView,
  postedRoot: Uint8Array,
  answers: readonly NodeAnswer[],
): SearchResult {
  if (equalBytes(truth.root, postedRoot)) return { kind: 'none' }
  let found: Place | Difference = { path: new Uint8Array(32), depth: 0, hash: postedRoot, steps: [] }
  if (postedRoot.every((byte) => byte === 0)) found = absent(firstLeaf(truth, rootNode(truth)), [])
  for (const answer of answers) {
    if ('posted' in found) break
    found = examine(truth, found, answer)
  }
  return 'posted' in found
    ? { kind: 'difference', difference: found }
    : { kind: 'question', question: questionAt(truth, found) }
}

function rootNode(truth: TrieView): MapNode {
  const node = truth.nodeAt(new Uint8Array(32), 0)
  if (node === undefined) throw new RangeError('Both maps are empty')
  return node
}

/** A branch of the true map is compared with the posted node; elsewhere any other leaf is a difference. */
function questionAt(truth: TrieView, { path, depth, hash, steps }: Place): NextQuestion {
  const node = truth.nodeAt(path, depth)
  if (node?.kind === 'branch') return { kind: 'subtree', key: nodeKey(path, depth), hash, steps }
  return { kind: 'leaf', key: nodeKey(node?.path ?? path, depth), hash, steps }
}

function examine(truth: TrieView, place: Place, answer: NodeAnswer): Place | Difference {
  if (isBranchAnswer(answer)) {
    requireHash(place, answer.node)
    return compare(truth, place, answer.node, answer.children)
  }
  const { node, steps } = answer
  if (steps.length > 0) return wrong(truth, node, [...place.steps, ...steps]) ?? unexpected()
  requireHash(place, node)
  return compare(truth, place, node)
}

function requireHash({ depth, hash }: Place, node: MapNode): void {
  if (!equalBytes(nodeHash(node, depth), hash)) unexpected()
}

/** Compares a posted node with the true one. @param children of the posted node, if they are known */
function compare(
  truth: TrieView,
  place: Place,
  posted: ShownNode,
  children?: readonly (ShownNode | undefined)[],
): Place | Difference {
  const { depth, steps } = place
  const node = truth.nodeAt(place.path, depth)
  const missing = (leaf: MapLeaf): Difference => absent(leaf, [...steps, stepAway(posted, depth, leaf.path)])
  if (posted.kind === 'leaf') {
    const difference = wrong(truth, posted, steps)
    if (difference !== undefined) return difference
    return node?.kind === 'branch' ? missing(otherLeaf(truth, node, posted.path)) : unexpected()
  }
  // No one can answer for a branch with one child: no map has one.
  if (node?.kind !== 'branch' || childCount(posted) < 2) return place
  const common = Math.min(divergence(posted.path, node.path, depth), posted.fork, node.fork)
  if (common < posted.fork)
    return missing(common < node.fork ? firstLeaf(truth, node) : otherLeaf(truth, node, posted.path))
  return compareChildren(truth, { ...place, node }, posted, children)
}

const childCount = (branch: MapBranch): number =>
  Array.from({ length: 16 }, (_, nibble) => childHash(branch, nibble)).filter(Boolean).length

/** The branch has all true keys below: compares where they are below its children. */
function compareChildren(
  truth: TrieView,
  { depth, steps, node }: Place & { readonly node: MapBranch },
  posted: MapBranch,
  children: readonly (ShownNode | undefined)[] | undefined,
): Place | Difference {
  const places: Place[] = []
  for (let nibble = 0; nibble < 16; nibble++) {
    const hash = childHash(posted, nibble)
    const path = extendPath(posted.path, posted.fork, Uint8Array.of(nibble))
    const below = posted.fork + 1
    const beside = [...steps, stepBeside(posted, depth, nibble)]
    const truly = node.fork === posted.fork ? childAt(truth, node, nibble) : truth.nodeAt(path, below)
    if (hash === undefined) {
      if (truly !== undefined) return absent(firstLeaf(truth, truly), beside)
      continue
    }
    if (truly !== undefined && equalBytes(nodeHash(truly, below), hash)) continue
    const place = { path, depth: below, hash, steps: beside }
    const child = children?.[nibble]
    const found = child === undefined ? place : compare(truth, place, child)
    if ('posted' in found) return found
    places.push(found)
  }
  const [first] = places
  return (
    places.find(({ path, depth }) => truth.nodeAt(path, depth)?.kind !== 'branch') ?? first ?? unexpected()
  )
}

/** The difference at the path of a posted leaf; undefined if it is true. */
function wrong(truth: TrieView, leaf: ShownLeaf, proof: Proof): Difference | undefined {
  const { path, valueHash, entry } = leaf
  const node = truth.nodeAt(path, pathLength)
  if (node?.kind === 'leaf' && equalBytes(node.valueHash, valueHash)) return undefined
  return { path, posted: { hash: valueHash, proof }, ...(entry && { entry }) }
}

const absent = ({ path }: MapLeaf, proof: Proof): Difference => ({ path, posted: { proof } })

function unexpected(): never {
  throw new RangeError('An answer is not one to its question')
}
