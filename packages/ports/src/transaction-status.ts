import type { TransactionPlace } from './blocks.js'

/** Finds accepted transactions. `store` of `@ratatosk/store` implements it. */
export interface PlacedTransactions {
  /**
   * @param transactionId 32 bytes
   * @returns undefined if the transaction is neither in the mempool nor in a block
   */
  placeOf(transactionId: Uint8Array): Promise<TransactionPlace | undefined>
  /** Those of some transactions, in their order. */
  placesOf(transactionIds: readonly Uint8Array[]): Promise<readonly (TransactionPlace | undefined)[]>
}

/** The removal of a block took a transaction out of the ledger. */
export interface RemovedTransaction {
  /** The block; absent if the transaction was accepted after it and in no block. */
  readonly block?: {
    readonly height: bigint
    /** 28 bytes. */
    readonly headerHash: Uint8Array
  }
  readonly removedAt: Date
  /** The submission that brought it back to the queue. */
  readonly submissionId?: string
}

/** Finds transactions that the removal of a block took out of the ledger. */
export interface RemovedTransactions {
  /** Newest first. */
  ofTransaction(transactionId: Uint8Array): Promise<readonly RemovedTransaction[]>
}

/** The rejection of a submission for good. */
export interface RejectionRecord {
  /** Id of the newest submission of these bytes. */
  readonly submissionId: string
  /** 32 bytes; absent if the submission does not decode. */
  readonly transactionId?: Uint8Array
  /**
   * Name of the first failed predicate of the Conway ledger, such as `FeeTooSmallUTxO`, or of the failure to
   * decode.
   */
  readonly code: string
  /** One sentence. */
  readonly message: string
  /** A list of `{ predicate, message, details }`, one per failed predicate, or any other JSON. */
  readonly details: unknown
  /** Deliveries of the newest rejected submission of these bytes. */
  readonly attempts: number
  /** How many submissions of these bytes were rejected. */
  readonly count: number
  readonly submittedAt: Date
  readonly rejectedAt: Date
}

/** A rejected submission with its history. */
export interface RejectedSubmission extends RejectionRecord {
  readonly firstRejectedAt: Date
  /** When the node submitted the bytes again, because the transaction that they lost against was undone. */
  readonly reopenedAt?: Date
}

/** Finds rejections. `store.rejections` of `@ratatosk/store` implements it. */
export interface RejectedSubmissions {
  /** The rejection of the bytes of this submission. */
  find(submissionId: string): Promise<RejectedSubmission | undefined>
  /** The newest rejection of a transaction. */
  findTransaction(transactionId: Uint8Array): Promise<RejectedSubmission | undefined>
}

/**
 * A submission that waits: `queued` before its first delivery, `validating` from then on until its verdict is
 * stored.
 */
export interface WaitingSubmission {
  readonly state: 'queued' | 'validating'
  readonly submittedAt: Date
  /** Deliveries that have ended without a verdict. */
  readonly attempts: number
}

/** A submission whose id the queue has issued; `left` once its verdict is stored. */
export type FoundSubmission = (WaitingSubmission | { readonly state: 'left' }) & {
  /** 32 bytes; absent if the submission is not shaped like a transaction. */
  readonly transactionId?: Uint8Array
}

/** Finds submissions in a queue. */
export interface QueuedSubmissions {
  /**
   * @param submissionId any text
   * @returns undefined if the queue issues no such ids
   */
  find(submissionId: string): Promise<FoundSubmission | undefined>
  /**
   * Finds the most advanced of the submissions of a transaction.
   *
   * @param transactionId 32 bytes
   * @returns undefined if none of them waits
   */
  findTransaction(transactionId: Uint8Array): Promise<WaitingSubmission | undefined>
}
