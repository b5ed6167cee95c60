/** The state of a block that is not removed; see the states of `@ratatosk/store`. */
export type BlockState = 'built' | 'submitted' | 'committed' | 'mature' | 'merged'

/** The block of a transaction. */
export interface PlacedBlock {
  /** 1 for the first block. */
  readonly height: bigint
  readonly state: BlockState
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** End of the block, POSIX milliseconds. */
  readonly endTime: bigint
  /** Id of the layer-1 transaction that commits the block, 32 bytes. */
  readonly commitTransactionId: Uint8Array
  /** Id of the layer-1 transaction that merges the block, once it is signed. */
  readonly mergeTransactionId?: Uint8Array
}

/** Where an accepted transaction is. */
export interface TransactionPlace {
  readonly acceptedAt: Date
  /** The block that contains it; absent while it is in the mempool. */
  readonly block?: PlacedBlock
  /** Its place in the block, from 0. */
  readonly position?: number
}

/** Finds accepted transactions. `store` of `@ratatosk/store` satisfies it. */
export interface PlacedTransactions {
  /**
   * @param transactionId 32 bytes
   * @returns undefined if the transaction is neither in the mempool nor in a block
   */
  placeOf(transactionId: Uint8Array): Promise<TransactionPlace | undefined>
}

/** A time that the removal of a block took a transaction out of the ledger. */
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

/** A submission that validation has rejected for good. */
export interface RejectedSubmission {
  readonly submissionId: string
  /** 32 bytes; absent if the submission does not decode. */
  readonly transactionId?: Uint8Array
  /** Name of the first failed predicate, such as `FeeTooSmallUTxO`. */
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
  readonly firstRejectedAt: Date
  readonly rejectedAt: Date
}

/** Finds rejections. `store.rejections` of `@ratatosk/store` satisfies it. */
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

/** A submission that the queue has issued the id for; `left` when its verdict is stored. */
export type QueuedSubmission = (WaitingSubmission | { readonly state: 'left' }) & {
  /** 32 bytes; absent if the submission is not shaped like a transaction. */
  readonly transactionId?: Uint8Array
}

/** Finds submissions. `createSubmissionQueue` of `@ratatosk/queue` satisfies it. */
export interface QueuedSubmissions {
  /**
   * @param submissionId any text
   * @returns undefined if the queue issues no such ids
   */
  find(submissionId: string): Promise<QueuedSubmission | undefined>
  /**
   * Of several submissions of the transaction, the one that is furthest.
   *
   * @param transactionId 32 bytes
   * @returns undefined if none of them waits
   */
  findTransaction(transactionId: Uint8Array): Promise<WaitingSubmission | undefined>
}
