import { createMemoryStore, createTrie, type Proof, rootOf, type TrieEntry } from '@ratatosk/trie'
import type { DerivedBlock } from './derive.js'
import { transactionKey } from './records.js'

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

/** Entries of a map by key. An entry takes about 200 bytes, where two arrays and their names take 700. */
export interface PackedEntries {
  /** Adds an entry, in the place of one with the same key. */
  add(entry: TrieEntry): void
  /** A view; undefined without such a key. */
  valueOf(key: Uint8Array): Uint8Array | undefined
  /** Views, in the order in which the keys were added. */
  all(): Generator<TrieEntry, void>
}

/** Bytes of the lengths of key and value in front of an entry. */
const headLength = 8
/** Bytes of a page, if the first entry in it is no longer. A single array would be copied as it grows. */
const pageLength = 65_536

export function createPackedEntries(): PackedEntries {
  const pages: DataView[] = []
  /** Where the next entry begins in the last page. */
  let end = 0
  /** Where each entry begins, by the bytes of its key: its page times the length of one, and bytes in it. */
  const places = new Map<string, number>()

  /** The last page, with room for an entry. */
  function pageFor(length: number): DataView {
    const last = pages.at(-1)
    if (last !== undefined && end + length <= last.byteLength) return last
    const next = new DataView(new ArrayBuffer(Math.max(pageLength, length)))
    pages.push(next)
    end = 0
    return next
  }

  function entryAt(place: number): TrieEntry {
    const page = pages[Math.floor(place / pageLength)] as DataView
    const start = place % pageLength
    const keyEnd = start + headLength + page.getUint32(start)
    const valueEnd = keyEnd + page.getUint32(start + 4)
    const bytes = new Uint8Array(page.buffer)
    return [bytes.subarray(start + headLength, keyEnd), bytes.subarray(keyEnd, valueEnd)]
  }

  return {
    add([key, value]) {
      const length = headLength + key.length + value.length
      const page = pageFor(length)
      places.set(nameOf(key), (pages.length - 1) * pageLength + end)
      page.setUint32(end, key.length)
      page.setUint32(end + 4, value.length)
      const bytes = new Uint8Array(page.buffer)
      bytes.set(key, end + headLength)
      bytes.set(value, end + headLength + key.length)
      end += length
    },

    valueOf(key) {
      const place = places.get(nameOf(key))
      return place === undefined ? undefined : entryAt(place)[1]
    },

    *all() {
      for (const place of places.values()) yield entryAt(place)
    },
  }
}

/** A key may be of any length: the operator of an invalid block chooses it. */
function nameOf(key: Uint8Array): string {
  let name = ''
  for (let start = 0; start < key.length; start += 1024)
    name += String.fromCharCode(...key.subarray(start, start + 1024))
  return name
}
