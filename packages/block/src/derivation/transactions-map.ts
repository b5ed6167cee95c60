import { createMemoryStore, createTrie, type Proof, rootOf } from '@ratatosk/trie'
import { transactionKey } from './records.js'
import type { DerivedBlock } from './types.js'

/**
 * The transactions map of a block as its header's `transactionsRoot` commits to it, with proofs. Values are
 * what `encodeTransactionRecord` and `encodeOutputRecord` of the {@link DerivedBlock} return.
 */
export interface TransactionsMap {
  /** 32 bytes; zeros for a block without transactions. */
  readonly root: Uint8Array
  /** Proves the record at a position. @throws TrieError `TRIE_KEY_MISSING` */
  proveTransaction(position: number): Proof
  /** Proves that there is no record at a position. @throws TrieError `TRIE_KEY_EXISTS` */
  proveNoTransaction(position: number): Proof
  /**
   * Proves the record of an output. @param outref CBOR of its reference
   *
   * @throws TrieError `TRIE_KEY_MISSING` if the block neither produces nor spends it
   */
  proveOutput(outref: Uint8Array): Proof
  /**
   * Proves that the block neither produces nor spends an output. @param outref CBOR of its reference
   *
   * @throws TrieError `TRIE_KEY_EXISTS`
   */
  proveNoOutput(outref: Uint8Array): Proof
}

/** Builds the transactions map of a block. Takes about 15 µs for each entry. */
export async function createTransactionsMap(derived: DerivedBlock): Promise<TransactionsMap> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(derived.entries())
  return {
    root: trie.root,
    proveTransaction: (position) => trie.prove(transactionKey(position)),
    proveNoTransaction: (position) => trie.proveAbsence(transactionKey(position)),
    proveOutput: (outref) => trie.prove(outref),
    proveNoOutput: (outref) => trie.proveAbsence(outref),
  }
}

/**
 * The transactions root of a header: the root of the transactions map. 32 bytes, zeros for no transactions.
 *
 * @param pause awaited at intervals of about 10 ms; without it the whole work is one turn of the event loop
 */
export async function transactionsRoot(
  derived: DerivedBlock,
  pause?: () => Promise<void>,
): Promise<Uint8Array> {
  return Uint8Array.from(await rootOf(derived.sharedEntries(), pause))
}
