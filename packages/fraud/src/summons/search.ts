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
import {
  isBranchAnswer,
  type NodeAnswer,
  nodeKey,
  type ShownLeaf,
  type ShownNode,
  subtreeKey,
} from './node-answer.js'

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

export interface SearchResult {
  /** The first that the answers show; undefined if they show none. */
  readonly difference?: Difference
  /**
   * About every node that the answers show, that the true map does not have, and that no answer opens. First
   * those where the true map has one entry at most: an answer to these is a difference.
   */
  readonly questions: readonly NextQuestion[]
}

interface Found {
  readonly differences: Difference[]
  /** Nodes to ask about. */
  readonly places: Place[]
}

/**
 * Searches for differences between the map of a posted root and the true map. Each answer descends two
 * branches of the true map, whose depth so bounds the rounds of questions; what the posted map adds costs one
 * more.
 *
 * @param truth the map that follows from the block
 * @param answerTo the answer to a question that the summons has accepted; undefined if there is none. Nothing
 *   is asked behind one that is unreadable
 * @returns neither a difference nor questions if the posted root is the true one, or nothing more is readable
 * @throws RangeError if an answer is not one to its question
 */
export function nextQuestions(
  truth: TrieView,
  postedRoot: Uint8Array,
  answerTo: (question: NextQuestion) => NodeAnswer | 'unreadable' | undefined,
): SearchResult {
  if (equalBytes(truth.root, postedRoot)) return { questions: [] }
  if (postedRoot.every((byte) => byte === 0))
    return { difference: absent(firstLeaf(truth, rootNode(truth)), []), questions: [] }
  const found: Found = {
    differences: [],
    places: [{ path: new Uint8Array(32), depth: 0, hash: postedRoot, steps: [] }],
  }
  const questions: NextQuestion[] = []
  // It grows while it is read.
  for (const place of found.places) {
    const question = questionAt(truth, place)
    const answer = answerTo(question)
    if (answer === undefined) questions.push(question)
    else if (answer !== 'unreadable') {
      const { differences, places } = examine(truth, place, answer)
      found.differences.push(...differences)
      found.places.push(...places)
    }
  }
  const [difference] = found.differences
  const isLeaf = ({ kind }: NextQuestion): boolean => kind === 'leaf'
  const ordered = [...questions.filter(isLeaf), ...questions.filter((each) => !isLeaf(each))]
  return { ...(difference && { difference }), questions: ordered }
}

function rootNode(truth: TrieView): MapNode {
  const node = truth.nodeAt(new Uint8Array(32), 0)
  if (node === undefined) throw new RangeError('Both maps are empty')
  return node
}

/** A branch of the true map is compared with the posted node; elsewhere any other leaf is a difference. */
function questionAt(truth: TrieView, { path, depth, hash, steps }: Place): NextQuestion {
  const node = truth.nodeAt(path, depth)
  if (node?.kind === 'branch') return { kind: 'subtree', key: subtreeKey(path, depth), hash, steps }
  return { kind: 'leaf', key: nodeKey(node?.path ?? path, depth), hash, steps }
}

function examine(truth: TrieView, place: Place, answer: NodeAnswer): Found {
  const found: Found = { differences: [], places: [] }
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
): void {
  for (let nibble = 0; nibble < 16; nibble++) {
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
  const { path, valueHash, entry } = leaf
  const node = truth.nodeAt(path, pathLength)
  if (node?.kind === 'leaf' && equalBytes(node.valueHash, valueHash)) return undefined
  return { path, posted: { hash: valueHash, proof }, ...(entry && { entry }) }
}

const absent = ({ path }: MapLeaf, proof: Proof): Difference => ({ path, posted: { proof } })

function unexpected(): never {
  throw new RangeError('An answer is not one to its question')
}
