import { parentPort } from 'node:worker_threads'
import { createDerivation, type Derivation, partsOf } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { blake2b256, decodeOutputReference, encodeOutputReference } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, proofToCbor, type Trie } from '@ratatosk/trie'
import type { Answer, Exchanges, MapProof, Question } from './maps-protocol.js'

// The program of the thread that builds and keeps the transactions maps of blocks.

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

/** The most maps that are kept; that of a block of 10,000 transfers takes about 20 MB. */
const mostMaps = 4

interface BlockMap {
  readonly trie: Trie
  readonly values: ReadonlyMap<string, Uint8Array>
}

const begun = new Map<string, Derivation>()
/** The least recently used first. */
const maps = new Map<string, BlockMap>()

port.on('message', ({ id, kind, request }: Question) => {
  void answer(kind, request).then(
    (answer) => port.postMessage({ id, answer } satisfies Answer),
    (error: unknown) => port.postMessage({ id, error: String(error) } satisfies Answer),
  )
})

async function answer(kind: Question['kind'], request: Question['request']) {
  switch (kind) {
    case 'begin':
      return begin(request as Exchanges['begin']['request'])
    case 'finish':
      return finish(request as Exchanges['finish']['request'])
    case 'prove':
      return prove(request as Exchanges['prove']['request'])
  }
}

function begin({ block, transactions }: Exchanges['begin']['request']): Exchanges['begin']['answer'] {
  const derivation = createDerivation()
  for (const cbor of transactions) derivation.add(cbor)
  begun.set(block, derivation)
  const producers = new Map<string, Uint8Array>()
  for (const outref of [...derivation.diff().spent, ...derivation.read()]) {
    const { transactionId } = decodeOutputReference(outref)
    producers.set(toHex(transactionId), transactionId)
  }
  return { producers: [...producers.values()] }
}

async function finish({
  block,
  producers,
  genesis,
}: Exchanges['finish']['request']): Promise<Exchanges['finish']['answer']> {
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
  if (maps.size > mostMaps && oldest !== undefined) maps.delete(oldest)
  return { root: trie.root }
}

function prove({ block, key }: Exchanges['prove']['request']): MapProof | undefined {
  const map = maps.get(block)
  if (map === undefined) return undefined
  maps.delete(block)
  maps.set(block, map)
  const { trie, values } = map
  const value = values.get(toHex(key))
  const proof = value === undefined ? trie.proveAbsence(key) : trie.prove(key)
  return { root: trie.root, value, proof: proofToCbor(proof) }
}
