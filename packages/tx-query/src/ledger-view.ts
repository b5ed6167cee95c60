import type { OutputReference } from '@ratatosk/ledger'

export type { OutputReference } from '@ratatosk/ledger'

/** An unspent output. */
export interface UtxoRow {
  readonly reference: OutputReference
  /** CBOR of the whole output: address, value, datum, script. */
  readonly output: Uint8Array
}

/** A section of the history of an address, counted from its oldest transaction. */
export interface HistoryPage {
  /** The most transactions to return. */
  readonly limit: number
  /** The number of older transactions to skip. */
  readonly offset: number
}

/**
 * The rows of an answer: all at once, or in batches that are read as the client takes them. An iterator is
 * closed by `return()` when the client disconnects.
 */
export type Rows<Row> = Promise<readonly Row[]> | AsyncIterable<readonly Row[]>

/**
 * The ledger that the plugin reads; any object with these methods is accepted. Transactions and outputs are
 * CBOR as submitted. The signals abort when the client disconnects.
 */
export interface LedgerQueries {
  /** The transaction with this id (32 bytes), from the mempool first, then from the blocks. */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /** Every transaction that spends from or pays to an address, once, oldest first. */
  history(address: Uint8Array, page: HistoryPage, signal: AbortSignal): Rows<Uint8Array>
  /** The unspent outputs at an address, including those of pending transactions. */
  utxosAt(address: Uint8Array, signal: AbortSignal): Rows<UtxoRow>
  /**
   * The ids of the transactions of the block with this header hash (28 bytes), in block order; empty if
   * unknown.
   */
  blockTransactions(headerHash: Uint8Array, signal: AbortSignal): Rows<Uint8Array>
}
