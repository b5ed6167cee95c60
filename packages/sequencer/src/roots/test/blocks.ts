import { deriveBlock } from '@ratatosk/block'
import type { OutputReference } from '@ratatosk/ledger'
import {
  blake2b256,
  decodeOutputReference,
  decodeTransaction,
  effects,
  encodeOutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import type { LedgerEntry, LedgerOutput } from '@ratatosk/store'
import { outputsOf, signed, type TestKey } from '@ratatosk/test-kit'
import { createMemoryStore, createTrie } from '@ratatosk/trie'

export const zeros = new Uint8Array(32)

/** The unspent outputs in plain data, by their references. */
export type Outputs = ReadonlyMap<string, LedgerOutput>

export function outputsOfGenesis(genesis: readonly LedgerEntry[]): Outputs {
  return new Map(
    genesis.map(({ reference, output }) => [outputReferenceKey(reference), { ...reference, output }]),
  )
}

export function after(outputs: Outputs, transactions: readonly Uint8Array[]): Outputs {
  const next = new Map(outputs)
  for (const cbor of transactions) {
    const { spent, produced } = effects(decodeTransaction(cbor))
    for (const reference of spent) next.delete(outputReferenceKey(reference))
    for (const { reference, output } of produced) {
      next.set(outputReferenceKey(reference), { ...reference, output: output.bytes })
    }
  }
  return next
}

/** In pieces of seven. */
export async function* piecesOf(outputs: Iterable<LedgerOutput>): AsyncGenerator<LedgerOutput[]> {
  const all = [...outputs]
  for (let start = 0; start < all.length; start += 7) yield all.slice(start, start + 7)
}

/** The root of these outputs, one inserted after the other on this thread. */
export function rootOf(outputs: Outputs): Uint8Array {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  for (const { output, ...reference } of outputs.values())
    trie.insert(encodeOutputReference(reference), output)
  return Uint8Array.from(trie.root)
}

/** The transactions root of a block over these outputs, of a trie that has all its entries. */
export function transactionsRootOf(transactions: readonly Uint8Array[], before: Outputs): Uint8Array {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  const hashBefore = (outref: Uint8Array) => {
    const output = before.get(outputReferenceKey(decodeOutputReference(outref)))
    return output && blake2b256(output.output)
  }
  const entries = [...deriveBlock(transactions, hashBefore).entries()]
  trie.update(entries.map(([key, value]) => ({ type: 'insert', key, value }) as const))
  return Uint8Array.from(trie.root)
}

/** A block without end: each transfer spends what the same transfer of the block before made. */
export function* successiveBlocks(
  key: TestKey,
  genesis: readonly LedgerEntry[],
): Generator<readonly Uint8Array[], never> {
  let inputs: readonly OutputReference[] = genesis.map(({ reference }) => reference)
  for (;;) {
    const transfers = inputs.map((input) => signed(key, { inputs: [input], outputs: [1_000_000n] }))
    yield transfers.map(({ cbor }) => cbor)
    inputs = transfers.map((transfer) => outputsOf(transfer))
  }
}

/** The roots of a block without deposits and withdrawals. */
export const noEvents = { depositsRoot: new Uint8Array(32), withdrawalsRoot: new Uint8Array(32) }
