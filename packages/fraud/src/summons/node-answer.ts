import { headerFieldIndex } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { NodeOpening } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import {
  byPosition,
  constr,
  type DataValue,
  type LinkedList,
  type PlutusData,
  PlutusDataError,
} from '@ratatosk/ledger/plutus-data'
import {
  childHash,
  extendPath,
  type MapBranch,
  type MapLeaf,
  nibblesOf,
  type Proof,
  pathLength,
} from '@ratatosk/trie'
import { stepsData } from '../openings.js'
import { proofFrom } from './proof-from.js'

const { at, bytesOf, constructorOf, fieldsOf, itemsOf } = byPosition

/** Children of a branch, and bytes of a hash. */
const [radix, hashBytes] = [16, 32]

/** A leaf as an answer shows it: of the transactions map with key and value, of other maps without them. */
export interface ShownLeaf extends MapLeaf {
  readonly entry?: readonly [key: Uint8Array, value: Uint8Array]
}

export type ShownNode = MapBranch | ShownLeaf

/** An answer to a question about a node of a map: the node, a leaf below it, or that a path has none. */
export type NodeAnswer =
  /** The branch with its children by nibble; undefined where there is none. */
  | { readonly node: MapBranch; readonly children: readonly (ShownNode | undefined)[] }
  /** A leaf, and the steps from the node to it: none if it is the node. */
  | { readonly node: ShownLeaf; readonly steps: Proof }
  /** The steps from the node towards the path of an entry. */
  | { readonly absent: Proof }

/** Whether a question about a map asks for keys and values: `root` is the index of the header's field. */
export const showsEntries = (root: number): boolean => root === headerFieldIndex.transactionsRoot

export const isBranchAnswer = (answer: NodeAnswer): answer is Extract<NodeAnswer, { children: unknown }> =>
  'children' in answer

/** The answer as Plutus data. @param depth number of nibbles above the node */
export function nodeAnswerData(answer: NodeAnswer, depth: number): PlutusData {
  if ('absent' in answer) return constr(NodeOpening.none, stepsData(answer.absent))
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
 * Reads an answer that the summons has accepted, as the summons reads it: openings only where the branch has
 * a child, each of any constructor but that of a branch as a leaf.
 *
 * @throws {PlutusDataError} if the data is no answer
 */
export function nodeAnswerFromData(data: DataValue, asked: AskedNode): NodeAnswer {
  const index = Number(constructorOf(data))
  const fields = fieldsOf(data)
  if (index === NodeOpening.leaf) return { node: leafFrom(fields, asked), steps: proofFrom(at(fields, 2)) }
  if (index === NodeOpening.none) return { absent: proofFrom(at(fields, 0)) }
  if (index !== NodeOpening.branch) throw new PlutusDataError(`no answer about a node: constructor ${index}`)
  const node = branchFrom(fields, asked)
  const below = node.fork + 1
  const children = itemsOf(at(fields, 2)).map((opening, nibble): ShownNode | undefined => {
    if (childHash(node, nibble) === undefined) return undefined
    const shown = fieldsOf(opening)
    const path = extendPath(node.path, node.fork, Uint8Array.of(nibble))
    return constructorOf(opening) === BigInt(NodeOpening.branch)
      ? branchFrom(shown, { path, depth: below })
      : leafFrom(shown, asked)
  })
  if (children.length !== radix) throw new PlutusDataError(`a branch with ${children.length} openings`)
  return { node, children }
}

function leafFrom(fields: LinkedList<DataValue>, { root }: AskedNode): ShownLeaf {
  const [first, second] = [bytesOf(at(fields, 0)), bytesOf(at(fields, 1))]
  return showsEntries(root)
    ? { kind: 'leaf', path: blake2b256(first), valueHash: blake2b256(second), entry: [first, second] }
    : { kind: 'leaf', path: bytesOf(at(fields, 0), 32), valueHash: bytesOf(at(fields, 1), 32) }
}

function branchFrom(
  fields: LinkedList<DataValue>,
  { path, depth }: Pick<AskedNode, 'path' | 'depth'>,
): MapBranch {
  const prefix = bytesOf(at(fields, 0))
  const fork = depth + prefix.length
  if (fork >= pathLength) throw new PlutusDataError('branch: expected a prefix within a path')
  const children = bytesOf(at(fields, 1), radix * hashBytes)
  return { kind: 'branch', path: extendPath(path, depth, prefix), fork, children }
}

/** The key of a question about a node: a path, and the number of its nibbles above the node. */
export const nodeKey = (path: Uint8Array, depth: number): Uint8Array =>
  concatBytes(path, Uint8Array.of(depth))

/** The key of a question about a subtree, which has one: the nibbles below the node are zero. */
export function subtreeKey(path: Uint8Array, depth: number): Uint8Array {
  const top = new Uint8Array(path.length)
  top.set(path.subarray(0, (depth + 1) >> 1))
  if (depth % 2 === 1) top[depth >> 1] = (top[depth >> 1] as number) & 0xf0
  return nodeKey(top, depth)
}

/** Reads what {@link nodeKey} writes. */
export const nodeOfKey = (key: Uint8Array): Pick<AskedNode, 'path' | 'depth'> => ({
  path: key.subarray(0, 32),
  depth: key[32] ?? 0,
})
