import { type Header, partsOf, transactionKey } from '@ratatosk/block'
import type { Entry, TrieView } from '@ratatosk/trie'
import type { OutputOpening, RecordOpening, TransactionOpening, UnspentOpening } from './openings.js'

/** A block with what its header commits to, so that anything in it can be proven. */
export interface ProvableBlock {
  readonly header: Header
  /** CBOR of the transactions, in block order. */
  readonly transactions: readonly Uint8Array[]
  /** The map of the header's `transactionsRoot`. */
  readonly map: TrieView
  /** A value of that map; undefined if it lacks the key. */
  valueOf(key: Uint8Array): Uint8Array | undefined
  /** The unspent outputs of the header's `prevUtxosRoot`: output reference CBOR → output CBOR. */
  readonly before: TrieView
  /** Those of the header's `utxosRoot`; undefined if nobody but the operator knows them. */
  readonly after?: TrieView
}

/** A block to look for frauds in. */
export interface SuspectBlock extends ProvableBlock {
  /** Every entry of the transactions map. */
  entriesOfMap(): Iterable<Entry>
  /**
   * The CBOR of an output that was unspent before the block; undefined if it was not. Without this, no fraud
   * is found whose proof shows what inputs stand for.
   *
   * @param key output reference CBOR
   */
  outputBefore?(key: Uint8Array): Uint8Array | undefined
}

/**
 * The record of a transaction, proven.
 *
 * @throws RangeError if the block has no such record
 */
export function openRecord(block: ProvableBlock, position: number): RecordOpening {
  const key = transactionKey(position)
  const record = block.valueOf(key)
  if (record === undefined) throw new RangeError(`The block has no record at position ${position}`)
  return { position, record, proof: block.map.prove(key) }
}

/** The record and the body of a transaction. @throws RangeError if the block lacks one of them */
export function openTransaction(block: ProvableBlock, position: number): TransactionOpening {
  const transaction = block.transactions[position]
  if (transaction === undefined) throw new RangeError(`The block has no transaction at position ${position}`)
  return { ...openRecord(block, position), body: partsOf(transaction).body }
}

/** What the block notes of an output, or that it notes nothing. */
export function openOutput(block: ProvableBlock, key: Uint8Array): OutputOpening {
  const { map } = block
  const record = block.valueOf(key)
  return record === undefined ? { proof: map.proveAbsence(key) } : { record, proof: map.prove(key) }
}

/** The hash of an unspent output, or that it is not unspent. */
export function openUnspent(outputs: TrieView, key: Uint8Array): UnspentOpening {
  const hash = outputs.valueHash(key)
  return hash === undefined ? { proof: outputs.proveAbsence(key) } : { hash, proof: outputs.prove(key) }
}
