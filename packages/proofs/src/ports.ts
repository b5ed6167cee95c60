import type { OutputReference } from '@ratatosk/ledger'

/** The state or the block that something is proved against. */
export type Against =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'committed' }
  | { readonly kind: 'header'; readonly headerHash: Uint8Array }

/** A proof against a root that layer 1 holds. */
export interface HeldProof {
  /** 28 bytes; zeros for the state before the first block. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR; undefined before the first block. */
  readonly header: Uint8Array | undefined
  readonly height: bigint | undefined
  /** 32 bytes. */
  readonly root: Uint8Array
  readonly key: Uint8Array
  /** Undefined if the proof shows that the key is absent. */
  readonly value: Uint8Array | undefined
  /** Plutus data CBOR. */
  readonly proof: Uint8Array
}

/** A proof of a transaction's record, or that a block does not hold the transaction. */
export interface TransactionProof extends HeldProof {
  /** In the block, from 0; undefined if the block does not hold the transaction. */
  readonly position: number | undefined
}

/**
 * Makes proofs; `openProver` of `@ratatosk/roots` satisfies it. An error with a positive number
 * `retryAfterMs` is answered 503.
 */
export interface Prover {
  utxo(reference: OutputReference, against: Against): Promise<HeldProof | 'no block' | 'not kept'>
  /** @param id 32 bytes */
  transaction(id: Uint8Array, headerHash?: Uint8Array): Promise<TransactionProof | 'no block'>
}
