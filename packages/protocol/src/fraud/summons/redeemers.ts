import {
  chunkKind,
  chunkRecordLength,
  decodeChunkRecord,
  type Header,
  headerFieldIndex,
  headerToData,
} from '@ratatosk/block'
import { concatBytes, equalBytes } from '@ratatosk/cbor'
import { ChunkOpening, NodeOpening, SummonsAction } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import {
  byPosition,
  constr,
  type DataValue,
  decodeAnyData,
  encodePlutusData,
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
  type ProofStep,
  pathLength,
} from '@ratatosk/trie'
import { type SuppliedBytes, stepsData, suppliedData } from '../openings.js'
import { readFrames } from '../recorded.js'

const { at, bytesOf, constructorOf, fieldsOf, integerOf, itemsOf } = byPosition

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
function nodeAnswerData(answer: NodeAnswer, depth: number): PlutusData {
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

/** An answer to a question about a chunk: its entry in the transactions map and its bytes; or its absence. */
export type ChunkAnswer =
  | { readonly entry: Uint8Array; readonly proof: Proof; readonly parts: readonly SuppliedBytes[] }
  | { readonly absent: Proof }

/**
 * The redeemer that asks questions.
 *
 * @param ways for each question in the order of the names of their tokens: the steps from the root to its
 *   node; none for a chunk
 */
export const encodeAsk = (header: Header, ways: readonly Proof[]): Uint8Array =>
  encodePlutusData(constr(SummonsAction.ask, headerToData(header), ways.map(stepsData)))

/**
 * The redeemer that answers a question about a node.
 *
 * @param refund index of the output that returns the bond
 */
export const encodeNodeAnswer = (refund: number, key: Uint8Array, answer: NodeAnswer): Uint8Array =>
  encodeAnswer(refund, nodeAnswerData(answer, nodeOfKey(key).depth))

/** The redeemer that answers a question about a chunk. @param refund as above */
export const encodeChunkAnswer = (refund: number, answer: ChunkAnswer): Uint8Array =>
  encodeAnswer(
    refund,
    'absent' in answer
      ? constr(ChunkOpening.absent, stepsData(answer.absent))
      : constr(ChunkOpening.shown, answer.entry, stepsData(answer.proof), answer.parts.map(suppliedData)),
  )

const encodeAnswer = (refund: number, answer: PlutusData): Uint8Array =>
  encodePlutusData(constr(SummonsAction.answer, BigInt(refund), answer))

/** The redeemer that ends a question after its deadline. @param refund as above */
export const encodeExpiry = (refund: number): Uint8Array =>
  encodePlutusData(constr(SummonsAction.expire, BigInt(refund)))

/** The redeemer that returns a bond without a verdict, when the question is stale. @param refund as above */
export const encodeReclaim = (refund: number): Uint8Array =>
  encodePlutusData(constr(SummonsAction.reclaim, BigInt(refund)))

/**
 * The answer in the redeemer by which a question was spent, for `nodeAnswerFromData` or
 * `chunkAnswerFromData`; undefined if it was ended without one.
 *
 * @throws {PlutusDataError} if the summons takes no such redeemer
 */
export function answerIn(redeemer: Uint8Array): DataValue | undefined {
  const action = decodeAnyData(redeemer)
  const { at, constructorOf, fieldsOf } = byPosition
  return constructorOf(action) === BigInt(SummonsAction.answer) ? at(fieldsOf(action), 1) : undefined
}

/** Where the script reads the hash of a chunk in its record. */
const hashStart = chunkRecordLength - 32

/**
 * A chunk that an answer shows, with the proof of its entry, or of its absence. The script has verified that
 * the transactions map has it, or has it not.
 */
export type ShownChunkAnswer =
  | { readonly kind: 'shown'; readonly record: Uint8Array; readonly bytes: Uint8Array; readonly proof: Proof }
  | { readonly kind: 'absent'; readonly proof: Proof }
  /** Parts of it are in datums that are not known. */
  | { readonly kind: 'unreadable' }

/**
 * Reads an answer that the summons has accepted, as the summons reads it.
 *
 * @param datumAt the bytes that the datum of a reference input of the answer is, or its hash if the output
 *   has only that; undefined if they are not known
 * @throws {PlutusDataError} if the data is no answer about a chunk
 */
export function chunkAnswerFromData(
  data: DataValue,
  datumAt: (index: number) => Uint8Array | undefined,
): ShownChunkAnswer {
  const index = Number(constructorOf(data))
  const fields = fieldsOf(data)
  if (index === ChunkOpening.absent) return { kind: 'absent', proof: proofFrom(at(fields, 0)) }
  if (index !== ChunkOpening.shown) throw new PlutusDataError(`no answer about a chunk: constructor ${index}`)
  const record = bytesOf(at(fields, 0))
  const proof = proofFrom(at(fields, 1))
  const parts = itemsOf(at(fields, 2)).map((part) => suppliedBy(part, datumAt))
  if (!parts.every((part) => part !== undefined)) return { kind: 'unreadable' }
  const bytes = concatBytes(...parts)
  const isRecorded = equalBytes(blake2b256(bytes), record.subarray(hashStart, hashStart + 32))
  return isRecorded ? { kind: 'shown', record, bytes, proof } : { kind: 'unreadable' }
}

/** Any constructor but the first names a reference input. */
function suppliedBy(
  data: DataValue,
  datumAt: (index: number) => Uint8Array | undefined,
): Uint8Array | undefined {
  const content = at(fieldsOf(data), 0)
  return constructorOf(data) === 0n ? bytesOf(content) : datumAt(Number(integerOf(content)))
}

/** How many chunks a block has by the record of one; undefined if the value is no record of a chunk. */
export const chunkCountOf = (record: Uint8Array): bigint | undefined =>
  record.length === chunkRecordLength && record[0] === chunkKind
    ? decodeChunkRecord(record).chunks
    : undefined

/** CBOR of the transactions in a chunk; undefined if it is malformed. */
export const transactionsInChunk = (bytes: Uint8Array): readonly Uint8Array[] | undefined =>
  readFrames(bytes)?.map(({ body, witnessSet, rest }) =>
    // Bytes that are no transaction are a body alone.
    witnessSet.length === 0 && rest.length === 0
      ? body
      : concatBytes(Uint8Array.of(0x84), body, witnessSet, rest),
  )

/** Constructors of a step: any other is a leaf. */
const Step = { branch: 0n, fork: 1n } as const

/**
 * A proof, of which the scripts take several forms.
 *
 * @throws {PlutusDataError} if the scripts take none like it
 */
const proofFrom = (data: DataValue): Proof => itemsOf(data).map(stepFrom)

function stepFrom(data: DataValue): ProofStep {
  const kind = constructorOf(data)
  const fields = fieldsOf(data)
  const skip = Number(integerOf(at(fields, 0)))
  if (kind === Step.branch) return { type: 'branch', skip, neighbors: bytesOf(at(fields, 1), 128) }
  if (kind !== Step.fork) {
    const neighbor = { key: bytesOf(at(fields, 1), 32), value: bytesOf(at(fields, 2), 32) }
    return { type: 'leaf', skip, neighbor }
  }
  const neighbor = fieldsOf(at(fields, 1))
  return {
    type: 'fork',
    skip,
    neighbor: {
      nibble: Number(integerOf(at(neighbor, 0))),
      prefix: bytesOf(at(neighbor, 1)),
      root: bytesOf(at(neighbor, 2), 32),
    },
  }
}
