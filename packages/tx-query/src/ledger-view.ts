/** The output of a transaction, named by the transaction's id (32 bytes) and the output's position. */
export interface OutputReference {
  readonly transactionId: Uint8Array
  readonly index: number
}

/** An unspent output. */
export interface Utxo {
  readonly reference: OutputReference
  /** CBOR of the whole output: address, value, datum, script. */
  readonly output: Uint8Array
}

/** A part of an address's history, counted from its oldest transaction. */
export interface Page {
  /** How many transactions at most. */
  readonly limit: number
  /** How many to leave out before them. */
  readonly offset: number
}

/**
 * What the plugin asks of a ledger, satisfied by shape. Transactions and outputs are CBOR as they were submitted.
 */
export interface LedgerView {
  /** The transaction with this id (32 bytes), from the mempool first, then from the blocks. */
  transaction(id: Uint8Array): Promise<Uint8Array | undefined>
  /** Every transaction that spends from or pays to an address, once, oldest first. */
  history(address: Uint8Array, page: Page): Promise<readonly Uint8Array[]>
  /** The unspent outputs at an address, those of pending transactions included. */
  utxosAt(address: Uint8Array): Promise<readonly Utxo[]>
  /** The ids of a block's transactions in block order, of the block with this header hash (28 bytes); none if unknown. */
  blockTransactions(headerHash: Uint8Array): Promise<readonly Uint8Array[]>
}
