import { equalBytes, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { MapNode, Proof, TrieView } from '@ratatosk/trie'
import { firstLeaf } from './answer.js'
import { absent, type Difference, examine, examineWay, type Found, type Place } from './compare.js'
import { type NodeAnswer, nodeKey, subtreeKey } from './node-answer.js'
import { waysBelow } from './ways.js'

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
