import { equalBytes } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import {
  childHash,
  extendPath,
  type MapBranch,
  type MapLeaf,
  type MapNode,
  nibbleAt,
  nodeHash,
  type Proof,
  type TrieView,
} from '@ratatosk/trie'
import { type NodeAnswer, nodeOfKey, type ShownLeaf, type ShownNode, showsEntries } from './redeemers.js'

/** The map that a question is about. */
export interface AnsweringMap {
  readonly trie: TrieView
  /** The entry at a path, the Blake2b-256 of its key; asked for in the transactions map only. */
  entryAt?(path: Uint8Array): readonly [key: Uint8Array, value: Uint8Array] | undefined
}

/**
 * Answers a question about a node, by reading 18 ways from the root at most.
 *
 * @returns undefined if the map does not have the node: the question is about another block
 * @throws RangeError if an entry of the transactions map is not known
 */
export function answerAboutNode(question: SummonsQuestion, map: AnsweringMap): NodeAnswer | undefined {
  const { path, depth } = nodeOfKey(question.key)
  const { trie } = map
  const node = trie.nodeAt(path, depth)
  if (node === undefined || !equalBytes(nodeHash(node, depth), question.hash)) return undefined
  const shown = (leaf: MapLeaf): ShownLeaf => (showsEntries(question.root) ? withEntry(map, leaf) : leaf)
  if (question.kind === 'entry') {
    const { hash: valueHash, proof } = trie.openPath(path)
    const steps = stepsBelow(proof, depth)
    return valueHash === undefined
      ? { absent: steps }
      : { node: shown({ kind: 'leaf', path, valueHash }), steps }
  }
  if (node.kind === 'leaf') return { node: shown(node), steps: [] }
  if (question.kind === 'leaf') {
    const leaf = otherLeaf(trie, node, path)
    return { node: shown(leaf), steps: stepsBelow(trie.openPath(leaf.path).proof, depth) }
  }
  const children = Array.from({ length: 16 }, (_, nibble): ShownNode | undefined => {
    const child = childAt(trie, node, nibble)
    return child?.kind === 'leaf' ? shown(child) : child
  })
  return { node, children }
}

function withEntry(map: AnsweringMap, leaf: MapLeaf): ShownLeaf {
  const entry = map.entryAt?.(leaf.path)
  if (entry === undefined) throw new RangeError('An entry of the transactions map is not known')
  return { ...leaf, entry }
}

/** The child of a branch under a nibble; undefined if there is none. */
export const childAt = (trie: TrieView, branch: MapBranch, nibble: number): MapNode | undefined =>
  childHash(branch, nibble) === undefined
    ? undefined
    : trie.nodeAt(extendPath(branch.path, branch.fork, Uint8Array.of(nibble)), branch.fork + 1)

/** A leaf below a branch, under another nibble than that of a path. */
export function otherLeaf(trie: TrieView, branch: MapBranch, path: Uint8Array): MapLeaf {
  const nibble = nibbleAt(path, branch.fork)
  for (let other = 0; other < 16; other++) {
    const child = other === nibble ? undefined : childAt(trie, branch, other)
    if (child !== undefined) return firstLeaf(trie, child)
  }
  throw new RangeError('A branch has one child')
}

export function firstLeaf(trie: TrieView, node: MapNode): MapLeaf {
  let here = node
  while (here.kind === 'branch') {
    const branch: MapBranch = here
    const nibble = [...branch.children].findIndex((byte) => byte !== 0) >> 5
    const child = childAt(trie, branch, nibble)
    if (child === undefined) throw new RangeError('A branch has no child')
    here = child
  }
  return here
}

/** The steps of a proof below the node at a depth, between two steps. */
function stepsBelow(proof: Proof, depth: number): Proof {
  let cursor = 0
  return proof.filter(({ skip }) => {
    const isBelow = cursor >= depth
    cursor += skip + 1
    return isBelow
  })
}
