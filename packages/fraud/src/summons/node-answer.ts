import { headerFieldIndex } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { NodeOpening } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import {
  bytesOf,
  constr,
  constrOf,
  encodePlutusData,
  listOf,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import {
  extendPath,
  type MapBranch,
  type MapLeaf,
  type MapNode,
  nibblesOf,
  type Proof,
  pathLength,
  proofFromCbor,
} from '@ratatosk/trie'
import { stepsData } from '../openings.js'

/** A leaf as an answer shows it: of the transactions map with key and value, of other maps without them. */
export interface ShownLeaf extends MapLeaf {
  readonly entry?: readonly [key: Uint8Array, value: Uint8Array]
}

export type ShownNode = MapBranch | ShownLeaf

/** An answer to a question about a node of a map: the node, or a leaf below it. */
export type NodeAnswer =
  /** The branch with its children by nibble; undefined where there is none. */
  | { readonly node: MapBranch; readonly children: readonly (ShownNode | undefined)[] }
  /** A leaf, and the steps from the node to it: none if it is the node. */
  | { readonly node: ShownLeaf; readonly steps: Proof }

/** Whether a question about a map asks for keys and values: `root` is the index of the header's field. */
export const showsEntries = (root: number): boolean => root === headerFieldIndex.transactionsRoot

export const isBranchAnswer = (answer: NodeAnswer): answer is Extract<NodeAnswer, { children: unknown }> =>
  answer.node.kind === 'branch'

/** The answer as Plutus data. @param depth number of nibbles above the node */
export function nodeAnswerData(answer: NodeAnswer, depth: number): PlutusData {
  if (!isBranchAnswer(answer))
    return constr(NodeOpening.leaf, ...leafFields(answer.node), stepsData(answer.steps))
  const { node, children } = answer
  const below = node.fork + 1
  const nodes = children.map((child) =>
    child === undefined
      ? constr(NodeOpening.none)
      : child.kind === 'leaf'
        ? constr(NodeOpening.leaf, ...leafFields(child))
        : constr(NodeOpening.branch, ...branchFields(child, below)),
  )
  return constr(NodeOpening.branch, ...branchFields(node, depth), nodes)
}

const leafFields = ({ path, valueHash, entry }: ShownLeaf): readonly Uint8Array[] =>
  entry ?? [path, valueHash]

const branchFields = ({ path, fork, children }: MapBranch, depth: number): readonly Uint8Array[] => [
  nibblesOf(path, depth, fork),
  children,
]

/** The place of the node in a {@link SummonsQuestion}. */
interface AskedNode {
  readonly path: Uint8Array
  readonly depth: number
  /** Index of the header's field that commits to the map. */
  readonly root: number
}

/**
 * Reads an answer that the summons has accepted.
 *
 * @throws {PlutusDataError | TrieError} if the data is no answer
 */
export function nodeAnswerFromData(data: PlutusData | undefined, asked: AskedNode): NodeAnswer {
  const { index, fields } = constrOf(data, 'answer')
  if (index === NodeOpening.leaf)
    return { node: leafFrom(fields, asked), steps: proofFromCbor(encodePlutusData(fields[2] ?? [])) }
  const node = branchFrom(fields, asked)
  const below = node.fork + 1
  const children = listOf(fields[2], 'nodes').map((child, nibble): MapNode | undefined => {
    const opening = constrOf(child, 'node')
    const path = extendPath(node.path, node.fork, Uint8Array.of(nibble))
    if (opening.index === NodeOpening.none) return undefined
    return opening.index === NodeOpening.leaf
      ? leafFrom(opening.fields, asked)
      : branchFrom(opening.fields, { path, depth: below })
  })
  return { node, children }
}

function leafFrom(fields: readonly PlutusData[], { root }: AskedNode): ShownLeaf {
  const [first, second] = fields
  if (!(first instanceof Uint8Array) || !(second instanceof Uint8Array))
    throw new PlutusDataError('leaf: expected two byte strings')
  return showsEntries(root)
    ? { kind: 'leaf', path: blake2b256(first), valueHash: blake2b256(second), entry: [first, second] }
    : { kind: 'leaf', path: bytesOf(first, 32, 'path'), valueHash: bytesOf(second, 32, 'value') }
}

function branchFrom(fields: readonly PlutusData[], at: Pick<AskedNode, 'path' | 'depth'>): MapBranch {
  const [prefix] = fields
  if (!(prefix instanceof Uint8Array) || at.depth + prefix.length >= pathLength)
    throw new PlutusDataError('branch: expected a prefix within a path')
  return {
    kind: 'branch',
    path: extendPath(at.path, at.depth, prefix),
    fork: at.depth + prefix.length,
    children: bytesOf(fields[1], 512, 'children'),
  }
}

/** The key of a question about a node: a path, and the number of its nibbles above the node. */
export const nodeKey = (path: Uint8Array, depth: number): Uint8Array =>
  concatBytes(path, Uint8Array.of(depth))

/** Reads what {@link nodeKey} writes. */
export const nodeOfKey = (key: Uint8Array): Pick<AskedNode, 'path' | 'depth'> => ({
  path: key.subarray(0, 32),
  depth: key[32] ?? 0,
})
