import { setImmediate } from 'node:timers/promises'
import {
  createPackedEntries,
  createPauses,
  type Deposit,
  derive,
  type Header,
  type PackedEntries,
  type ReadBody,
} from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { createMemoryStore, createTrie, type TrieEntry, type TrieView } from '@ratatosk/trie'
import { FraudError } from './errors.js'
import { movedParts } from './shapes.js'

/**
 * A block to find frauds in, with everything that its header commits to. Its tries must not change while they
 * are used.
 */
export interface AccusedBlock {
  readonly header: Header
  /** CBOR of the transactions, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** Those that the block credits, ascending by id; none by default. */
  readonly deposits?: readonly Deposit[]
  /** Hash of the bridge's script, 28 bytes, in a deployment that has one. */
  readonly bridge?: Uint8Array | undefined
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
   * The maps of the header's `depositsRoot` and `withdrawalsRoot`. Without one, frauds whose proof opens it
   * are found only if it is empty.
   */
  readonly events?: EventMaps
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

/** Outputs that a block brings from layer 1, and those that leave: reference CBOR → output CBOR. */
export interface EventMaps {
  readonly deposits?: TrieView
  readonly withdrawals?: TrieView
}

/** The input of {@link accuse}: a block without its transactions map. */
export interface Accusation extends Omit<AccusedBlock, 'map' | 'valueOf' | 'entriesOfMap' | 'events'> {
  /** Entries of the transactions map, if it is not the map that follows from the transactions. */
  readonly entries?: Iterable<TrieEntry>
}

/**
 * Builds the maps of a block, and compares the roots of outputs and transactions with the header's. Other
 * work runs meanwhile. A transaction takes about 4 KiB of memory.
 *
 * @throws {FraudError} (rejects) `FRAUD_ROOT_MISMATCH`
 * @example
 * const block = await accuse({ header, transactions: body.transactions, before, after })
 */
export async function accuse({ entries, ...block }: Accusation): Promise<AccusedBlock> {
  const { header, before, after } = block
  let isMoved = false
  const read: ReadBody = (body) => {
    const moved = movedParts(body)
    isMoved ||= moved !== undefined
    return moved
  }
  let derived = await deriveEntries(block, read)
  let map = await mapOf(entries ? await pack(entries) : derived.packed)
  // Verifiers without this search take it that what does not decode moves nothing.
  if (entries === undefined && isMoved && !equalBytes(map.trie.root, header.transactionsRoot)) {
    derived = await deriveEntries(block, () => undefined)
    map = await mapOf(derived.packed)
  }
  requireRoot('transactions map', map.trie, header.transactionsRoot)
  requireRoot('trie of the outputs before the block', before, header.prevUtxosRoot)
  if (after) requireRoot('trie of the outputs after the block', after, header.utxosRoot)
  const events = postedEvents(derived.events, header)
  return { ...block, map: map.trie, valueOf: map.packed.valueOf, entriesOfMap: map.packed.all, events }
}

/** The maps that a header commits to, of those that follow from its block. */
export function postedEvents(
  { deposits, withdrawals }: Required<EventMaps>,
  { depositsRoot, withdrawalsRoot }: Pick<Header, 'depositsRoot' | 'withdrawalsRoot'>,
): EventMaps {
  return {
    ...(equalBytes(deposits.root, depositsRoot) && { deposits }),
    ...(equalBytes(withdrawals.root, withdrawalsRoot) && { withdrawals }),
  }
}

/** Builds the map of entries, which are packed: the operator of a block chooses how many there are. */
export async function mapOf(packed: PackedEntries) {
  return { trie: await trieOf(packed.all()), packed }
}

async function trieOf(entries: Iterable<TrieEntry>): Promise<TrieView> {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  await trie.rebuild(pausing(entries), createPauses())
  return trie
}

async function pack(entries: Iterable<TrieEntry>): Promise<PackedEntries> {
  const packed = createPackedEntries()
  for await (const entry of pausing(entries)) packed.add(entry)
  return packed
}

/** The entries that follow from the transactions and deposits of a block, as the scripts read these. */
export interface DerivedEntries {
  /** Of the transactions map. */
  readonly packed: PackedEntries
  readonly events: Required<EventMaps>
}

export async function deriveEntries(
  { bridge, before, ...body }: Pick<Accusation, 'transactions' | 'deposits' | 'before' | 'bridge'>,
  read: ReadBody = movedParts,
): Promise<DerivedEntries> {
  const derivation = await derive(body, { read, bridge })
  const derived = await derivation.deriveInTurns(before.valueHash)
  const events = {
    deposits: await trieOf(derived.deposits()),
    withdrawals: await trieOf(derived.withdrawals()),
  }
  return { packed: await pack(derived.sharedEntries()), events }
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
