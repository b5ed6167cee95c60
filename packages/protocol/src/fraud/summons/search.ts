import { equalBytes, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
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
import {
  isBranchAnswer,
  type NodeAnswer,
  nodeKey,
  type ShownLeaf,
  type ShownNode,
  subtreeKey,
} from './redeemers.js'

/** A question, without the header that it is about. */
export interface NextQuestion extends Pick<SummonsQuestion, 'kind' | 'key' | 'hash'> {
  /** The asker's proof: from the root to the node. */
  readonly steps: Proof
}

export interface SearchResult {
  /** Those that the answers show. */
  readonly differences: readonly Difference[]
  /**
   * About every node that the answers show, that the true map does not have, and that no answer opens. First
   * those where the true map has one entry at most: an answer to these is a difference. Then those about the
   * node with the fewest entries below, and about these entries.
   */
  readonly questions: readonly NextQuestion[]
}

/**
 * Searches for differences between the map of a posted root and the true map. Each round of answers descends
 * two branches of the true map, or leaves a 32nd of the entries where there are more branches: so the number
 * of entries bounds the rounds, however deep they are. The things that the posted map adds cost two more.
 *
 * @param truth the map that follows from the block
 * @param answerTo the answer to a question that the summons has accepted; undefined if there is none. Nothing
 *   is asked behind one that is unreadable
 * @returns neither differences nor questions if the posted root is the true one, or nothing more is readable
 * @throws RangeError if an answer is not one to its question
 */
export function nextQuestions(
  truth: TrieView,
  postedRoot: Uint8Array,
  answerTo: (question: NextQuestion) => NodeAnswer | 'unreadable' | undefined,
): SearchResult {
  if (equalBytes(truth.root, postedRoot)) return { differences: [], questions: [] }
  if (postedRoot.every((byte) => byte === 0))
    return { differences: [absent(firstLeaf(truth, rootNode(truth)), [])], questions: [] }
  const found: Found = {
    differences: [],
    places: [{ path: new Uint8Array(32), depth: 0, hash: postedRoot, steps: [] }],
  }
  const asked: NextQuestion[] = []
  let fewest: { readonly keys: number; readonly questions: readonly NextQuestion[] } | undefined
  const seen = new Set<string>()
  // It grows while it is read.
  for (const place of found.places) {
    const name = nameOf(place)
    if (seen.has(name)) continue
    seen.add(name)
    const question = questionAt(truth, place)
    const answer = answerTo(question)
    if (answer === undefined) asked.push(question)
    else if (answer !== 'unreadable') {
      const { differences, places } = examine(truth, place, answer)
      found.differences.push(...differences)
      found.places.push(...places)
    }
    const { paths, keys } = waysAt(truth, place)
    const questions = paths.map((path) => entryQuestion(path, postedRoot))
    const answers = questions.map(answerTo)
    const ways = answers.flatMap((way, index) =>
      way === undefined || way === 'unreadable'
        ? []
        : examineWay(truth, place, paths[index] as Uint8Array, way),
    )
    const lacking = questions.filter((_, index) => answers[index] === undefined)
    for (const { differences } of ways) found.differences.push(...differences)
    // The other answers may show it below their own ways.
    if (lacking.length === 0) for (const { places } of ways) found.places.push(...places)
    else if (fewest === undefined || keys < fewest.keys)
      fewest = { keys, questions: [...(answer === undefined ? [question] : []), ...lacking] }
  }
  const isLeaf = ({ kind }: NextQuestion): boolean => kind === 'leaf'
  const bySubject = new Map<string, NextQuestion>()
  for (const each of [...asked.filter(isLeaf), ...(fewest?.questions ?? []), ...asked])
    bySubject.set([each.kind, toHex(each.key), toHex(each.hash)].join(), each)
  return { differences: found.differences, questions: [...bySubject.values()] }
}

/** Several ways lead to one node. */
const nameOf = ({ path, depth, hash, part }: Place): string =>
  [toHex(subtreeKey(path, depth)), toHex(hash), part?.from, part?.size].join()

const none = { paths: [], keys: 0 }

function waysAt(truth: TrieView, { path, depth, part }: Place): ReturnType<typeof waysBelow> {
  const node = truth.nodeAt(path, depth)
  return node?.kind === 'branch' ? waysBelow(truth, node, part) : none
}

/** A question about the entry at a path, from the root: it needs no steps. */
export const entryQuestion = (path: Uint8Array, root: Uint8Array): NextQuestion => ({
  kind: 'entry',
  key: nodeKey(path, 0),
  hash: root,
  steps: [],
})

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

/** Entries of one part of a map that are asked for at once, at most. */
const mostEntries = 32
/** Entries of a part of a map that are counted, in a second; a larger one is searched by subtrees only. */
const mostCounted = 1 << 20
/** Branches that an answer about a subtree shows, one below the other. */
const shownLevels = 2

/** Some children of a branch. */
interface Part {
  /** The nibble of the first. */
  readonly from: number
  /** 1, 2, 4, 8 or 16. */
  readonly size: number
}

const whole: Part = { from: 0, size: 16 }

/** Entries whose ways leave no large part between them. */
interface Ways {
  readonly paths: readonly Uint8Array[]
  /** How many entries there are in the part. */
  readonly keys: number
}

/** By map and part: a search begins again with each answer. */
const known = new WeakMap<TrieView, Map<string, Ways>>()

/**
 * Entries below a part of a branch, such that each part that lies between their ways, and that a proof shows
 * by one hash, has one in {@link mostEntries} of all entries at most. If there are no more than so many: all
 * of them. Those that an answer about the subtree shows are left out.
 */
function waysBelow(truth: TrieView, branch: MapBranch, part: Part = whole): Ways {
  const ofMap = known.get(truth) ?? new Map<string, Ways>()
  known.set(truth, ofMap)
  const name = [toHex(nodeHash(branch, branch.fork)), part.from, part.size].join()
  const ways = ofMap.get(name) ?? findWays(truth, branch, part)
  ofMap.set(name, ways)
  return ways
}

function findWays(truth: TrieView, top: MapBranch, part: Part): Ways {
  const keys = sumOf(sizesBelow(truth, top), part)
  if (keys > mostCounted) return { paths: [], keys }
  const most = keys / mostEntries
  const paths: Uint8Array[] = []
  const visit = (branch: MapBranch, { from, size }: Part, sizes: readonly number[], level: number): void => {
    if (size === 1) {
      const child = childAt(truth, branch, from)
      if (child?.kind === 'branch') visit(child, whole, sizesBelow(truth, child), level + 1)
      else if (child !== undefined && level >= shownLevels) paths.push(child.path)
      return
    }
    const halves = [from, from + size / 2].map((first) => ({ from: first, size: size / 2 }))
    const heavy = halves.filter((half) => sumOf(sizes, half) > most)
    for (const half of heavy) visit(branch, half, sizes, level)
    if (heavy.length > 0 || level < shownLevels) return
    const nibble = sizes.findIndex((count, at) => count > 0 && at >= from)
    const child = childAt(truth, branch, nibble)
    if (child !== undefined) paths.push(firstLeaf(truth, child).path)
  }
  visit(top, part, sizesBelow(truth, top), 0)
  return { paths, keys }
}

const sumOf = (sizes: readonly number[], { from, size }: Part): number =>
  sizes.slice(from, from + size).reduce((sum, each) => sum + each, 0)

/** How many entries there are below each child. */
function sizesBelow(truth: TrieView, { path, fork }: MapBranch): number[] {
  let left = mostCounted + 1
  return Array.from({ length: 16 }, (_, nibble) => {
    const size = truth.sizeAt(extendPath(path, fork, Uint8Array.of(nibble)), fork + 1, left)
    left -= size
    return size
  })
}

/** A node of the posted map: what a question is about. */
interface Place {
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

interface Found {
  readonly differences: Difference[]
  /** Nodes to ask about. */
  readonly places: Place[]
}

/** Compares the answer about a place with the true map. @throws RangeError if it is about another */
function examine(truth: TrieView, place: Place, answer: NodeAnswer): Found {
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
function examineWay(truth: TrieView, place: Place, path: Uint8Array, answer: NodeAnswer): Found {
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
