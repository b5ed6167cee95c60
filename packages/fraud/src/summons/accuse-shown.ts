import { chunkKey } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, type TrieEntry, type TrieView } from '@ratatosk/trie'
import { type Accusation, type AccusedBlock, derivedEntries } from '../accused-block.js'
import { fraudsIn } from '../find-fraud.js'
import { pausing } from '../pausing.js'
import type { NextQuestion } from './search.js'
import type { ShownMap } from './shown-map.js'

/** The transactions map that follows from transactions. */
export interface DerivedMap {
  readonly trie: TrieView
  /** By key in hex. */
  readonly entries: ReadonlyMap<string, TrieEntry>
}

/** Derives the transactions map of a block, whatever its header says. Other work runs meanwhile. */
export async function deriveMap({
  transactions,
  before,
}: Pick<Accusation, 'transactions' | 'before'>): Promise<DerivedMap> {
  const entries = new Map<string, TrieEntry>()
  for await (const entry of pausing(await derivedEntries(transactions, before)))
    entries.set(toHex(entry[0]), entry)
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(pausing(entries.values()))
  return { trie, entries }
}

/** A chunk that an answer has shown. */
interface ShownChunk {
  readonly record: Uint8Array
  readonly bytes: Uint8Array
}

/**
 * A block whose transactions map does not follow from its transactions, as far as answers show it: elsewhere
 * its map is taken to follow. A search for a fraud throws `NotShown` for what a proof needs besides.
 *
 * @param absent path of a key that the map does not have, found by a search
 * @param chunks by their numbers
 */
export async function accuseShown(
  block: Omit<Accusation, 'entries'>,
  derived: DerivedMap,
  shown: ShownMap,
  chunks: ReadonlyMap<number, ShownChunk>,
  absent?: Uint8Array,
): Promise<AccusedBlock> {
  const entries = new Map(derived.entries)
  for (const [key, value] of shown.entries()) entries.set(toHex(key), [key, value])
  for (const [number, { record }] of chunks) {
    const key = chunkKey(number)
    entries.set(toHex(key), [key, record])
  }
  if (absent !== undefined)
    for await (const [key] of pausing(derived.entries.values()))
      if (equalBytes(blake2b256(key), absent)) entries.delete(toHex(key))
  return {
    ...block,
    map: shown,
    valueOf: (key) => entries.get(toHex(key))?.[1],
    entriesOfMap: () => entries.values(),
    chunks: Array.from(chunks.values(), ({ bytes }) => bytes),
  }
}

/**
 * The questions whose answers the first proofs of frauds in a block need; none if they need none, or there is
 * no fraud.
 */
export async function missingForProof(
  block: AccusedBlock,
  shown: ShownMap,
  rules: ProvableRules,
): Promise<readonly NextQuestion[]> {
  const missing = new Map<string, NextQuestion>()
  const map = shown.incomplete((question) => missing.set(toHex(question.hash), question))
  for await (const _found of pausing(fraudsIn({ ...block, map }, rules))) break
  return [...missing.values()]
}
