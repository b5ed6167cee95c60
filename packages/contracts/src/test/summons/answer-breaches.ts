import { longestChunk } from '@ratatosk/block'
import {
  answerAboutNode,
  encodeChunkAnswer,
  encodeNodeAnswer,
  type NodeAnswer,
  nodeKey,
} from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import { type MapBranch, nibbleAt, nodeHash } from '@ratatosk/trie'
import { type Breach, breach } from '../breach.js'
import { type FreeNode, freeMap, leafAt, pathFrom } from './free-map.js'
import {
  type Asked,
  answerBy,
  answerFrom,
  asking,
  chunkEntryOf,
  chunkKey,
  chunkQuestion,
  header,
  leafQuestion,
  nextAt,
  onlyChunk,
  outputs,
  redeemerFrom,
  shownChunk,
  somePath,
  subtreeQuestion,
  topQuestion,
  transactions,
} from './scenarios.js'

const trueAnswer = (asked: Asked): NodeAnswer => answerAboutNode(asked.question, { trie: outputs })!
const shown = trueAnswer(topQuestion) as Extract<NodeAnswer, { children: unknown }>
const other = trueAnswer(subtreeQuestion)
const leaf = trueAnswer(leafQuestion) as Extract<NodeAnswer, { steps: unknown }>

const nodeAnswer = (rule: string, what: string, asked: Asked, answer: NodeAnswer): Breach =>
  breach(rule, what, (world) => answerBy(world, asked, encodeNodeAnswer(0, asked.question.key, answer)))

/** A question about the top of a false map. */
function topOf(node: FreeNode, kind: 'subtree' | 'leaf' = 'subtree'): Asked {
  const map = freeMap(node)
  const about = { ...header, utxosRoot: map.root }
  return asking({ kind, key: nodeKey(new Uint8Array(32), 0), hash: map.root, steps: [] }, 1, about)
}
const falseAnswer = (rule: string, what: string, node: FreeNode): Breach =>
  breach(rule, what, (world) => answerFrom(world, freeMap(node), topOf(node)))

const paths = Array.from({ length: 3 }, (_, i) => blake2b256(Uint8Array.of(i)))
const under = (nibbles: readonly number[], i = 0) => leafAt(pathFrom(nibbles, paths[i]!))
const branchOver = (...children: readonly (FreeNode | undefined)[]): FreeNode => ({
  kind: 'branch',
  path: new Uint8Array(32),
  fork: 0,
  below: Array.from({ length: 16 }, (_, nibble) => children[nibble]),
})

/** The answer with another child under its first nibble. */
const withChild = (child: NodeAnswer['node'] | undefined): NodeAnswer => ({
  ...shown,
  children: [child, ...shown.children.slice(1)],
})
const firstChild = shown.children[0] as MapBranch
const elsewhere = pathFrom([(nibbleAt(leaf.node.path, 0) + 1) % 16], leaf.node.path)
const stepsToSomePath = outputs.openPath(somePath)
const leafAtSomePath: NodeAnswer = {
  node: { kind: 'leaf', path: somePath, valueHash: stepsToSomePath.hash! },
  steps: stepsToSomePath.proof.slice(1),
}

export const answerBreaches: readonly Breach[] = [
  breach('chunk-is-in-block', 'the entry is of another chunk', (world) =>
    answerBy(world, chunkQuestion(1), encodeChunkAnswer(0, shownChunk)),
  ),
  breach('chunk-is-in-block', 'the entry is invented', (world) => {
    const bytes = new Uint8Array(40)
    const answer = { ...shownChunk, entry: chunkEntryOf(bytes), parts: [bytes] }
    return answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, answer))
  }),
  breach('chunk-is-shown', 'a byte is missing', (world) => {
    const parts = [shownChunk.parts[0]!.subarray(1)]
    return answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, { ...shownChunk, parts }))
  }),
  breach('chunk-is-short', 'a chunk of a false map is long', (world) => {
    const { asked, redeemer } = onlyChunk(longestChunk + 1)
    return answerBy(world, asked, redeemer)
  }),
  breach('chunk-is-absent', 'the block has the chunk', (world) =>
    answerBy(world, chunkQuestion(0), encodeChunkAnswer(0, { absent: shownChunk.proof })),
  ),
  breach('chunk-is-absent', 'another chunk is absent', (world) =>
    answerBy(
      world,
      chunkQuestion(2),
      encodeChunkAnswer(0, { absent: transactions.proveAbsence(chunkKey(1)) }),
    ),
  ),
  breach('branch-answers-subtree', 'a leaf is asked for', (world) => {
    const asked = asking(nextAt(outputs, 'leaf', somePath, 0), 1)
    return answerBy(world, asked, encodeNodeAnswer(0, asked.question.key, shown))
  }),
  nodeAnswer('branch-is-in-map', 'the branch is another', topQuestion, other),
  nodeAnswer('branch-shows-children', 'a child is not shown', topQuestion, withChild(undefined)),
  nodeAnswer('branch-shows-children', 'a child is another', topQuestion, withChild(shown.children[1])),
  nodeAnswer('branch-shows-children', 'a child is a leaf that it is not', topQuestion, withChild(leaf.node)),
  nodeAnswer('branch-shows-children', 'a child has other children', topQuestion, {
    ...withChild({ ...firstChild, children: Uint8Array.from(firstChild.children).reverse() }),
  }),
  nodeAnswer('branch-shows-children', 'only fifteen are shown', topQuestion, {
    ...shown,
    children: shown.children.slice(0, 15),
  }),
  falseAnswer('branch-shows-children', 'the branch has one child', branchOver(under([0]))),
  falseAnswer(
    'branch-shows-children',
    'a leaf is not below its nibble',
    branchOver(under([0]), under([2], 1)),
  ),
  falseAnswer(
    'branch-shows-children',
    'the path of a leaf is of a form that a branch could imitate',
    branchOver(under([0]), leafAt(pathFrom([1, 0], new Uint8Array(32)))),
  ),
  nodeAnswer('leaf-is-below', 'the leaf is elsewhere', leafQuestion, {
    ...leaf,
    node: { ...leaf.node, path: elsewhere },
  }),
  nodeAnswer('leaf-is-another', 'the leaf is the one that is not asked for', leafQuestion, leafAtSomePath),
  nodeAnswer('leaf-is-another', 'a subtree is asked for', subtreeQuestion, leaf),
  nodeAnswer('leaf-is-in-map', 'the value is another', leafQuestion, {
    ...leaf,
    node: { ...leaf.node, valueHash: new Uint8Array(32) },
  }),
  nodeAnswer('leaf-is-in-map', 'the leaf is of another node', leafQuestion, {
    node: leaf.node,
    steps: leaf.steps.slice(1),
  }),
  breach('leaf-is-in-map', 'the node is another', (world) => {
    const asked = asking(nextAt(outputs, 'leaf', somePath, 1), 1, header, {
      hash: nodeHash(shown.node, 1),
    })
    return answerBy(world, asked, redeemerFrom(outputs, leafQuestion))
  }),
]
