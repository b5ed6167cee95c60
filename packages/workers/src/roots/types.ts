/** The roots that a block's header takes from its transactions, 32 bytes each. */
export interface BlockRoots {
  /** Of the unspent outputs after the block: output reference CBOR → output CBOR as submitted. */
  readonly utxosRoot: Uint8Array
  /** Of the block's transactions: hash → CBOR as submitted. Zeros where it has none. */
  readonly transactionsRoot: Uint8Array
}

/** An unspent output, as the store gives it for {@link Roots.rebuild}. */
export interface UnspentOutput {
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly index: number
  /** CBOR as submitted. */
  readonly output: Uint8Array
}

/**
 * The Merkle roots of blocks, computed on a thread of their own. Calls run one after another, in the order in which they were
 * made. Each does all that it promises or, where it rejects with a {@link RootsError}, nothing.
 */
export interface Roots {
  /** Root of the unspent outputs after the last block that was applied, 32 bytes (zeros: there are none). */
  root(): Promise<Uint8Array>
  /**
   * Applies a block to the unspent outputs; durable when it resolves.
   *
   * @param transactions CBOR of the block's transactions, in its order. They are copied before the call returns.
   * @throws RootsError `ROOTS_INPUT_MISSING`, `ROOTS_OUTPUT_EXISTS`, `ROOTS_TRANSACTION_MALFORMED`, `ROOTS_TRANSACTION_REPEATED`
   */
  apply(transactions: readonly Uint8Array[]): Promise<BlockRoots>
  /**
   * Goes back to the newest kept state with this root; those after it are forgotten.
   *
   * @returns false: none is kept, nothing was changed, and {@link Roots.rebuild} has to help
   */
  revert(root: Uint8Array): Promise<boolean>
  /**
   * Replaces everything, earlier states included. Until the last piece has come the outputs are as before; where `pieces` throws
   * they stay so, and its error is this call's.
   *
   * @param pieces unspent outputs in any order, `blocks.utxosAfterNewest()` of the store
   * @returns the root
   * @throws RootsError `ROOTS_OUTPUT_EXISTS` where an output comes twice
   */
  rebuild(pieces: AsyncIterable<readonly UnspentOutput[]>): Promise<Uint8Array>
  /** Waits for the calls that were made, then ends the thread. Safe to call twice. */
  close(): Promise<void>
}

export interface RootsOptions {
  /** LMDB folder, made where it is missing; one process at a time may use it. Without it the outputs are kept in memory. */
  readonly path?: string
  /** How many states before the present one are kept, to be gone back to. 64 by default. */
  readonly history?: number
}
