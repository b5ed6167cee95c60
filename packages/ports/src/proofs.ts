/** The state or the block that something is proved against. */
export type Against =
  /** The state after the newest merged block. */
  | { readonly kind: 'confirmed' }
  /** The state after the newest block in the state queue. */
  | { readonly kind: 'committed' }
  /** The state after this block (28 bytes), which is committed or merged. */
  | { readonly kind: 'header'; readonly headerHash: Uint8Array }

/** A proof against a root that layer 1 holds. */
export interface HeldProof {
  /** Its header has the root; undefined for the state before the first block. */
  readonly block:
    | {
        /** 28 bytes. */
        readonly headerHash: Uint8Array
        /** Plutus data CBOR of the ten fields. */
        readonly header: Uint8Array
        readonly height: bigint
      }
    | undefined
  /** 32 bytes. */
  readonly root: Uint8Array
  readonly key: Uint8Array
  /** Undefined if the proof shows that the key is absent. */
  readonly value: Uint8Array | undefined
  /** Plutus data CBOR of the proof. */
  readonly proof: Uint8Array
}

/** A proof of a transaction's record, or that a block does not hold the transaction. */
export interface ProvedTransaction extends HeldProof {
  /** In the block, from 0; undefined if the block does not hold the transaction. */
  readonly position: number | undefined
}

/**
 * Proves what the root of a committed or merged block holds; see `openProver` of `@ratatosk/sequencer/roots`.
 *
 * @throws (rejects) an error with a positive number `retryAfterMs` if too many proofs are pending
 */
export interface Prover {
  /**
   * Proves that an output is, or is not, among the unspent outputs after a block.
   *
   * @param reference transaction id (32 bytes) and index of the output
   * @returns `'no block'` if the block is not committed, `'not kept'` if the state is too old
   */
  utxo(
    reference: { readonly transactionId: Uint8Array; readonly index: number },
    against: Against,
  ): Promise<HeldProof | 'no block' | 'not kept'>
  /**
   * Proves the record of a transaction in its block. With a header hash, in that block: if it does not hold
   * the transaction, the proof shows that the block has no first output of it.
   *
   * @param id 32 bytes
   * @returns `'no block'` if there is no such committed block, or none that holds the transaction
   */
  transaction(id: Uint8Array, headerHash?: Uint8Array): Promise<ProvedTransaction | 'no block'>
}
