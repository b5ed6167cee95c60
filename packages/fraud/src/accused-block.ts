import { setImmediate } from 'node:timers/promises'
import {
  createDerivation,
  createPackedEntries,
  createPauses,
  type Header,
  type PackedEntries,
  type ReadBody,
} from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { createMemoryStore, createTrie, type TrieEntry, type TrieView } from '@ratatosk/trie'
import { FraudError } from './errors.js'
import { movedParts } from './shapes/moved-parts.js'

/**
 * A block to find frauds in, with everything that its header commits to. Its tries must not change while they
 * are used.
 */
export interface AccusedBlock {
  readonly header: Header
  /** CBOR of the transactions, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** The map of the header's `transactionsRoot`. */
  readonly map: MapProofs
  /** A value of that map; undefined if it lacks the key. */
  valueOf(key: Uint8Array): Uint8Array | undefined
  /** Every entry of that map. */
  entriesOfMap(): Iterable<TrieEntry>
  /** The unspent outputs of the header's `prevUtxosRoot`: output reference CBOR → output CBOR. */
  readonly before: TrieView
  /** Those of the header's `utxosRoot`. Without them, frauds in the outputs after the block are not found. */
  readonly after?: TrieView
  /**
   * References, as CBOR, that may differ before and after the block although the transactions map does not
   * name them.
   */
  readonly keys?: Iterable<Uint8Array>
  /** Bytes of chunks that do not follow from the transactions. Without them, frauds in them are not found. */
  readonly chunks?: Iterable<Uint8Array>
  /**
   * The CBOR of an output that was unspent before the block; undefined if it was not. Without this, no fraud
   * is found whose proof shows the outputs that inputs refer to.
   *
   * @param key output reference CBOR
   */
  outputBefore?(key: Uint8Array): Uint8Array | undefined
}

/** The input of {@link accuse}: a block without its transactions map. */
export interface Accusation extends Omit<AccusedBlock, 'map' | 'valueOf' | 'entriesOfMap'> {
  /** Entries of the transactions map, if it is not the map that follows from the transactions. */
  readonly entries?: Iterable<TrieEntry>
}

/**
 * Builds the transactions map of a block, and compares all roots with the header's. Other
 * work runs meanwhile. A transaction takes about 4 KiB of memory.
 *
 * @throws {FraudError} (rejects) `FRAUD_ROOT_MISMATCH`
 * @example
 * const block = await accuse({ header, transactions: body.transactions, before, after })
 */
export async function accuse({ entries, ...block }: Accusation): Promise<AccusedBlock> {
  const { header, transactions, before, after } = block
  let isMoved = false
  const read: ReadBody = (body) => {
    const moved = movedParts(body)
    isMoved ||= moved !== undefined
    return moved
  }
  const packed = await (entries ? pack(entries) : derivedEntries(transactions, before, read))
  let map = await mapOf(packed)
  // Verifiers without this search take it that what does not decode moves nothing.
  if (isMoved && !equalBytes(map.trie.root, header.transactionsRoot))
    map = await mapOf(await derivedEntries(transactions, before, () => undefined))
  requireRoot('transactions map', map.trie, header.transactionsRoot)
  requireRoot('trie of the outputs before the block', before, header.prevUtxosRoot)
  if (after) requireRoot('trie of the outputs after the block', after, header.utxosRoot)
  return { ...block, map: map.trie, valueOf: map.packed.valueOf, entriesOfMap: map.packed.all }
}

/** Builds the map of entries, which are packed: the operator of a block chooses how many there are. */
export async function mapOf(packed: PackedEntries) {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(pausing(packed.all()), createPauses())
  return { trie, packed }
}

async function pack(entries: Iterable<TrieEntry>): Promise<PackedEntries> {
  const packed = createPackedEntries()
  for await (const entry of pausing(entries)) packed.add(entry)
  return packed
}

/** Entries of the transactions map that follows from transactions, as the scripts read these. */
export async function derivedEntries(
  transactions: readonly Uint8Array[],
  before: TrieView,
  read: ReadBody = movedParts,
): Promise<PackedEntries> {
  const derivation = createDerivation(read)
  for await (const transaction of pausing(transactions)) derivation.add(transaction)
  return pack((await derivation.deriveInTurns(before.valueHash)).sharedEntries())
}

function requireRoot(what: string, { root }: TrieView, expected: Uint8Array): void {
  if (equalBytes(root, expected)) return
  const message = `The ${what} has the root ${toHex(root)}, and the header commits to ${toHex(expected)}`
  throw new FraudError('FRAUD_ROOT_MISMATCH', message)
}

/** The source of proofs: a map, or its known part. */
export type MapProofs = Pick<TrieView, 'prove' | 'proveAbsence' | 'openPath'>

/** Milliseconds of work after which other work runs. */
const turnMs = 10

/** The items of a sequence but for undefined ones, which are steps; other work runs in between. */
export async function* pausing<Item>(items: Iterable<Item | undefined>): AsyncGenerator<Item, void> {
  let since = performance.now()
  for (const item of items) {
    if (item !== undefined) yield item
    if (performance.now() - since < turnMs) continue
    await setImmediate()
    since = performance.now()
  }
}
