import type { Layer1Transaction } from '../blocks/types.js'
import type { Lease } from '../leases/types.js'

/** The purpose of a transaction: it pays outputs whose datums are parts of an answer, or it answers. */
export type AnswerStage = 'datum' | 'answer'

/** A transaction that answers a question of the summons, stored before it is sent. */
export interface AnswerTransaction extends Layer1Transaction {
  /** CBOR of the reference of the question's output. */
  readonly question: Uint8Array
  readonly stage: AnswerStage
}

/** The journal of the answers that were sent. */
export interface Answers {
  /** The recorded transactions of questions, in no particular order. */
  of(questions: readonly Uint8Array[]): Promise<AnswerTransaction[]>
  /**
   * Stores a transaction; replaces an earlier one of the same question and stage.
   *
   * @throws StoreError `STORE_LEASE_LOST`
   */
  record(transaction: AnswerTransaction, lease: Lease): Promise<void>
  /** Deletes what was recorded before a time. Returns how many were deleted. */
  forget(recordedBefore: Date): Promise<number>
}
