import type { AppliedTransaction, OutputReference } from '@ratatosk/ledger'
import type { RejectionWriter } from '../rejections/types.js'

export type { AppliedTransaction } from '@ratatosk/ledger'

/** An unspent output as the store keeps it. */
export interface StoredOutput {
  readonly reference: OutputReference
  /** CBOR of the transaction output, as submitted. */
  readonly output: Uint8Array
}

/** An output with the address that queries find it by. */
export interface LedgerEntry extends StoredOutput {
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
}

/** Transactions in order of acceptance. A transaction may spend what an earlier one of the batch produces. */
export interface Batch {
  readonly transactions: readonly AppliedTransaction[]
}

/** The reads of the mempool ledger. */
export interface LedgerReads {
  /** The unspent outputs of `references`, in their order. `undefined`: unknown or spent. One query. */
  outputs(references: readonly OutputReference[]): Promise<(Uint8Array | undefined)[]>
  /**
   * The transaction that spent each of `references`, in their order. `undefined`: unspent, unknown, or spent
   * so long ago that it is forgotten; see `Blocks.forgetSpent`. One query.
   */
  spenders(references: readonly OutputReference[]): Promise<(Uint8Array | undefined)[]>
  /** For each transaction id, in order: whether it is in the mempool or in a block. One query. */
  known(ids: readonly Uint8Array[]): Promise<boolean[]>
}

/** The mempool ledger before its lock. Valid only inside the callback of {@link Store.withUnlockedLedger}. */
export interface UnlockedLedger extends LedgerReads {
  /**
   * Waits for the lock, which is held until the SQL transaction ends. Earlier reads may be outdated.
   */
  lock(): Promise<Ledger>
}

/**
 * The mempool ledger under its lock. Valid only inside the callback of {@link Store.withLedger} or
 * {@link Store.withUnlockedLedger}.
 */
export interface Ledger extends LedgerReads {
  /**
   * Writes a batch in one statement: transactions, spent and produced outputs, address history.
   *
   * @throws StoreError `STORE_CONFLICT` if a spent output is not in the ledger or an id is taken,
   * `STORE_INVALID_ARGUMENT` if the batch spends an output twice or spends what only a later transaction
   * produces.
   */
  apply(batch: Batch): Promise<void>
  /** Adds rejections in the same SQL transaction. */
  readonly rejections: RejectionWriter
}
