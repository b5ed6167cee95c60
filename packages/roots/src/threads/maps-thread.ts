import { createDerivation, type Derivation, partsOf } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b256, decodeOutputReference, encodeOutputReference } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, proofToCbor, type Trie } from '@ratatosk/trie'
import { serve } from './serve.js'

// The program of the thread that builds and keeps the transactions maps of blocks.

/** Maps that are kept; that of a block of 10,000 transfers takes about 20 MB. */
const maxMaps = 4

interface BlockMap {
  readonly trie: Trie
  readonly values: ReadonlyMap<string, Uint8Array>
}

const begun = new Map<string, Derivation>()
/** The least recently used first. */
const maps = new Map<string, BlockMap>()

/** Names a block and has the CBOR of its transactions, in block order. */
interface BlockTransactions {
  readonly block: string
  readonly transactions: readonly Uint8Array[]
}

/** What a begun map needs to be finished. */
interface MapInputs {
  readonly block: string
  /** CBOR of the producers that were found. */
  readonly producers: readonly Uint8Array[]
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

const handlers = { begin, finish, prove }

/** What the thread can be asked. */
export type MapsHandlers = typeof handlers

serve(handlers)

/** Begins a map. Returns the ids of the transactions that produced what the block spends and reads. */
function begin({ block, transactions }: BlockTransactions): readonly Uint8Array[] {
  const derivation = createDerivation()
  for (const cbor of transactions) derivation.add(cbor)
  begun.set(block, derivation)
  const producers = new Map<string, Uint8Array>()
  for (const outref of [...derivation.diff().spent, ...derivation.read()]) {
    const { transactionId } = decodeOutputReference(outref)
    producers.set(toHex(transactionId), transactionId)
  }
  return [...producers.values()]
}

async function finish({ block, producers, genesis }: MapInputs): Promise<void> {
  const derivation = begun.get(block)
  begun.delete(block)
  if (derivation === undefined) throw new Error('The map was not begun')
  const hashes = new Map<string, Uint8Array>()
  for (const [outref, output] of genesis) hashes.set(toHex(outref), blake2b256(output))
  for (const cbor of producers) {
    const { id, outputs } = partsOf(cbor)
    for (const [index, output] of outputs.entries())
      hashes.set(toHex(encodeOutputReference({ transactionId: id, index })), blake2b256(output))
  }
  const derived = derivation.derive((outref) => hashes.get(toHex(outref)))
  const values = new Map<string, Uint8Array>()
  const entries = Array.from(derived.entries(), ([key, value]) => {
    const own = Uint8Array.from(value)
    values.set(toHex(key), own)
    return [Uint8Array.from(key), own] as const
  })
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(entries)
  maps.set(block, { trie, values })
  const [oldest] = maps.keys()
  if (maps.size > maxMaps && oldest !== undefined) maps.delete(oldest)
}

/** Proves an entry, or that there is none; undefined without the block's map. */
function prove({ block, key }: { readonly block: string; readonly key: Uint8Array }): MapProof | undefined {
  const map = maps.get(block)
  if (map === undefined) return undefined
  maps.delete(block)
  maps.set(block, map)
  const { trie, values } = map
  const value = values.get(toHex(key))
  const proof = value === undefined ? trie.proveAbsence(key) : trie.prove(key)
  return { root: trie.root, value, proof: proofToCbor(proof) }
}
