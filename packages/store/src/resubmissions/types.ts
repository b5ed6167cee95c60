import type { OrderedTransaction } from '../blocks/types.js'

interface Requeued {
  readonly sequence: bigint
  readonly submissionId: string
}

/** One time that the removal of a block took a transaction out of the ledger. */
export interface Removal {
  /** The removed block that had it; undefined if it was accepted after that block and was in no block yet. */
  readonly block?: { readonly headerHash: Uint8Array; readonly height: bigint }
  /** By the database's clock. */
  readonly removedAt: Date
  /** The submission that brought it back; undefined while it waits. */
  readonly submissionId?: string
}

/**
 * Transactions that the removal of blocks took out of the ledger; see `Blocks.undo`. They go back to the
 * queue in the order in which they had been accepted, and are judged anew. A transaction may reach the queue
 * twice if a process ends in between; validation applies it once.
 */
export interface Resubmissions {
  /** The oldest that are not in the queue yet, with their former accept sequences: at most `limit`. */
  waiting(limit: number): Promise<OrderedTransaction[]>
  /** Records that the queue has them. Those that are unknown or were recorded before are left as they are. */
  queued(transactions: readonly Requeued[]): Promise<void>
  /** When and with which blocks a transaction (32 bytes) was removed, newest first. */
  ofTransaction(id: Uint8Array): Promise<Removal[]>
  /** Forgets those that were back in the queue before a time. Returns how many. */
  forget(queuedBefore: Date): Promise<number>
}
