import { chunkKey, type PackedEntries } from '@ratatosk/block'
import { BytesMap, equalBytes } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import type { TrieEntry, TrieView } from '@ratatosk/trie'
import {
  type Accusation,
  type AccusedBlock,
  deriveEntries,
  type EventMaps,
  mapOf,
  pausing,
  postedEvents,
} from '../accused-block.js'
import { fraudsIn } from '../find-fraud.js'
import type { ShownChunkAnswer } from './chunk-answer.js'
import type { NextQuestion } from './search.js'
import type { ShownMap } from './shown-map.js'

/** The maps that follow from transactions and deposits. */
export interface DerivedMap {
  /** The transactions map. */
  readonly trie: TrieView
  /** Its entries. */
  readonly packed: PackedEntries
  readonly events: Required<EventMaps>
}

/** Derives the maps of a block without regard to its header. Other work runs meanwhile. */
export async function deriveMap(
  block: Pick<Accusation, 'transactions' | 'deposits' | 'before' | 'bridge'>,
): Promise<DerivedMap> {
  const { packed, events } = await deriveEntries(block)
  return { ...(await mapOf(packed)), events }
}

/**
 * A block whose transactions map does not follow from its transactions, as far as answers show it: elsewhere
 * its map is taken to follow. A search for a fraud throws `NotShown` for what a proof needs besides.
 *
 * @param shown takes the openings of the chunks too
 * @param answers about chunks, by their numbers
 * @param absent path of a key that the map does not have, found by a search
 */
export async function accuseShown(
  block: Omit<Accusation, 'entries'>,
  derived: DerivedMap,
  shown: ShownMap,
  answers: ReadonlyMap<number, ShownChunkAnswer>,
  absent?: Uint8Array,
): Promise<AccusedBlock> {
  const { packed } = derived
  /** The entries that differ from those that follow, by key; undefined for the key that the map lacks. */
  const others = new BytesMap<TrieEntry | undefined>()
  if (absent !== undefined)
    for await (const [key] of pausing(packed.all()))
      if (equalBytes(blake2b256(key), absent)) others.set(key, undefined)
  for (const entry of shown.entries()) others.set(entry[0], entry)
  const chunks: Uint8Array[] = []
  for (const [number, chunk] of answers) {
    if (chunk.kind === 'unreadable') continue
    const { kind, proof } = chunk
    const key = chunkKey(number)
    const posted = kind === 'shown' ? { hash: blake2b256(chunk.record), proof } : { proof }
    shown.know({ path: blake2b256(key), posted })
    others.set(key, kind === 'shown' ? [key, chunk.record] : undefined)
    if (kind === 'shown') chunks.push(chunk.bytes)
  }
  return {
    ...block,
    events: postedEvents(derived.events, block.header),
    map: shown,
    valueOf: (key) => (others.has(key) ? others.get(key)?.[1] : packed.valueOf(key)),
    *entriesOfMap() {
      for (const entry of packed.all()) if (!others.has(entry[0])) yield entry
      for (const entry of others.values()) if (entry !== undefined) yield entry
    },
    chunks,
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
  const missing = new BytesMap<NextQuestion>()
  const map = shown.incomplete((question) => missing.set(question.hash, question))
  for await (const _found of pausing(fraudsIn({ ...block, map }, rules))) break
  return [...missing.values()]
}
