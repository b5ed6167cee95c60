import {
  chunkKey,
  createChunker,
  createDerivation,
  createPackedEntries,
  type Deposit,
  type Derivation,
  decodeChunkRecord,
  headerFieldIndex,
  operationsOfDiff,
  type PackedEntries,
  partsOf,
} from '@ratatosk/block'
import { BytesMap, BytesSet } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { blake2b256, decodeOutputReference, encodeOutputReference } from '@ratatosk/ledger'
import { answerAboutNode, type NodeAnswer } from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie, proofToCbor, type Trie, type TrieEntry } from '@ratatosk/trie'
import type { Shown } from '../types.js'
import { beginRebuild, type PackedOutputs, type Rebuild, unpackOutputs } from './packing.js'
import { serve } from './thread.js'

// The program of the thread that builds and keeps the transactions maps of blocks.

/** Maps that are kept. An entry takes about 300 bytes, and the largest block may have half a million. */
const maxMaps = 4

interface BlockMap {
  readonly trie: Trie
  readonly entries: PackedEntries
  readonly transactions: readonly Uint8Array[]
  /** The maps of deposits and withdrawals, by the index of the header's field that commits to them. */
  readonly events: ReadonlyMap<number, Trie>
  /** Keys by their paths; made for the first question about a node. */
  keys?: PackedEntries
}

/** The outputs after the last block that was asked about and whose state was not kept elsewhere. */
let outputs: { readonly block: string; readonly trie: Trie } | undefined
let rebuilding: { readonly trie: Trie; readonly rebuild: Rebuild } | undefined

const begun = new Map<
  string,
  { readonly derivation: Derivation; readonly transactions: readonly Uint8Array[] }
>()
/** The least recently used first. */
const maps = new Map<string, BlockMap>()

/** Names a block and has its content: the CBOR of its transactions, in block order. */
interface BlockTransactions {
  readonly block: string
  readonly transactions: readonly Uint8Array[]
  readonly deposits: readonly Deposit[]
  /** Hash of the bridge's script. */
  readonly bridge: Uint8Array | undefined
}

/** The inputs to finish a begun map. */
interface MapInputs {
  readonly block: string
  /** CBOR of the producers that were found. */
  readonly producers: readonly Uint8Array[]
  /** Deposits and fee outputs of earlier blocks. */
  readonly credits: readonly Deposit[]
  readonly genesis: readonly (readonly [outref: Uint8Array, output: Uint8Array])[]
}

/** A proof of an entry of a transactions map, or of its absence. */
export interface MapProof {
  readonly root: Uint8Array
  /** Undefined if the map has no such key. */
  readonly value: Uint8Array | undefined
  /** `proofToCbor` of `@ratatosk/trie`. */
  readonly proof: Uint8Array
}

const handlers = {
  ...{ begin, finish, prove, answer },
  ...{ addOutputs, endOutputs, abandonOutputs, moveOutputs, answerAboutOutputs },
}

export type MapsHandlers = typeof handlers

serve(handlers)

/** Begins a map. Returns the ids of the transactions that produced what the block spends and reads. */
function begin(content: BlockTransactions): readonly Uint8Array[] {
  const { block, transactions } = content
  const derivation = derivationOf(content)
  begun.set(block, { derivation, transactions })
  const named = [...derivation.diff().spent, ...derivation.read()].map(decodeOutputReference)
  return [...new BytesSet(named.map(({ transactionId }) => transactionId))]
}

function derivationOf({ transactions, deposits, bridge }: BlockTransactions): Derivation {
  const derivation = createDerivation({ bridge })
  for (const deposit of deposits) derivation.deposit(deposit)
  for (const cbor of transactions) derivation.add(cbor)
  return derivation
}

async function finish({ block, producers, credits, genesis }: MapInputs): Promise<void> {
  const beginning = begun.get(block)
  begun.delete(block)
  if (beginning === undefined) throw new Error('The map was not begun')
  const { derivation, transactions } = beginning
  const hashes = new BytesMap<Uint8Array>()
  for (const [outref, output] of genesis) hashes.set(outref, blake2b256(output))
  for (const { id, output } of credits)
    hashes.set(encodeOutputReference({ transactionId: id, index: 0 }), blake2b256(output))
  for (const cbor of producers) {
    const { id, outputs } = partsOf(cbor)
    for (const [index, output] of outputs.entries())
      hashes.set(encodeOutputReference({ transactionId: id, index }), blake2b256(output))
  }
  const derived = derivation.derive((outref) => hashes.get(outref))
  const entries = createPackedEntries()
  for (const entry of derived.sharedEntries()) entries.add(entry)
  const trie = await trieOf(entries.all())
  const events = new Map([
    [headerFieldIndex.depositsRoot, await trieOf(derived.deposits())],
    [headerFieldIndex.withdrawalsRoot, await trieOf(derived.withdrawals())],
  ])
  maps.set(block, { trie, entries, transactions, events })
  const [oldest] = maps.keys()
  if (maps.size > maxMaps && oldest !== undefined) maps.delete(oldest)
}

async function trieOf(entries: Iterable<TrieEntry>): Promise<Trie> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(entries)
  return trie
}

/** Proves an entry, or that there is none; undefined without the block's map. */
function prove({ block, key }: { readonly block: string; readonly key: Uint8Array }): MapProof | undefined {
  const map = mapOf(block)
  if (map === undefined) return undefined
  const { trie } = map
  const value = valueIn(map, key)
  const proof = value === undefined ? trie.proveAbsence(key) : trie.prove(key)
  return { root: trie.root, value, proof: proofToCbor(proof) }
}

/** A copy: a view would be sent with all that it is a view of. */
function valueIn({ entries }: Pick<BlockMap, 'entries'>, key: Uint8Array): Uint8Array | undefined {
  const value = entries.valueOf(key)
  return value && Uint8Array.from(value)
}

function mapOf(block: string): BlockMap | undefined {
  const map = maps.get(block)
  if (map === undefined) return undefined
  maps.delete(block)
  maps.set(block, map)
  return map
}

interface BlockQuestion {
  readonly block: string
  readonly question: SummonsQuestion
}

/** Answers a question about a map of a block other than its outputs; undefined without the map. */
function answer({ block, question }: BlockQuestion): Shown | undefined {
  const map = mapOf(block)
  if (map === undefined) return undefined
  if (question.kind === 'chunk') return chunkOf(map, question.key)
  const events = map.events.get(question.root)
  if (events !== undefined) return shown(answerAboutNode(question, { trie: events }))
  const { trie } = map
  map.keys ??= keysByPath(map)
  const { keys } = map
  const entryAt = (path: Uint8Array) => {
    const key = keys.valueOf(path)
    const value = key && valueIn(map, key)
    return key && value && ([Uint8Array.from(key), value] as const)
  }
  return shown(answerAboutNode(question, { trie, entryAt }))
}

const shown = (node: NodeAnswer | undefined): Shown =>
  node === undefined ? { kind: 'nothing' } : { kind: 'node', node }

function keysByPath({ entries }: BlockMap): PackedEntries {
  const keys = createPackedEntries()
  for (const [key] of entries.all()) keys.add([blake2b256(key), key])
  return keys
}

function chunkOf(map: BlockMap, key: Uint8Array): Shown {
  const { trie, transactions } = map
  const number = new DataView(key.buffer, key.byteOffset).getUint32(0)
  const entry = valueIn(map, key)
  if (entry === undefined) return { kind: 'no chunk', absent: trie.proveAbsence(key) }
  const firstIn = (record: Uint8Array) => Number(decodeChunkRecord(record).first)
  const next = valueIn(map, chunkKey(number + 1))
  let bytes = new Uint8Array()
  const chunker = createChunker((_first, chunk) => {
    bytes = Uint8Array.from(chunk)
  })
  for (const cbor of transactions.slice(firstIn(entry), next && firstIn(next))) chunker.add(partsOf(cbor))
  chunker.end()
  return { kind: 'chunk', entry, proof: trie.prove(key), bytes }
}

/** Begins to rebuild the outputs after a block with their first piece. Resolves when it can take the next. */
function addOutputs(piece: PackedOutputs): Promise<void> {
  rebuilding ??= beginOutputs()
  return rebuilding.rebuild.add(unpackOutputs(piece))
}

function beginOutputs() {
  // Two at a time would need twice the memory.
  outputs = undefined
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  return { trie, rebuild: beginRebuild(trie) }
}

/** @returns their root */
async function endOutputs(block: string): Promise<Uint8Array> {
  const { trie, rebuild } = rebuilding ?? beginOutputs()
  rebuilding = undefined
  const root = await rebuild.end()
  outputs = { block, trie }
  return root
}

/** Applies a block to the outputs before it; returns the root after it, undefined without outputs. */
function moveOutputs(content: BlockTransactions): Uint8Array | undefined {
  if (outputs === undefined) return undefined
  const { trie } = outputs
  outputs = undefined
  const operations = [...operationsOfDiff(derivationOf(content).diff())]
  if (operations.length > 0) trie.update(operations)
  outputs = { block: content.block, trie }
  return Uint8Array.from(trie.root)
}

/** Also forgets outputs that were rebuilt: their root may be wrong. */
async function abandonOutputs(): Promise<void> {
  const abandoned = rebuilding
  outputs = undefined
  rebuilding = undefined
  await abandoned?.rebuild.abandon()
}

/** Answers a question about the outputs after a block; undefined unless they were rebuilt. */
function answerAboutOutputs({ block, question }: BlockQuestion): Shown | undefined {
  if (outputs?.block !== block) return undefined
  return shown(answerAboutNode(question, outputs))
}
