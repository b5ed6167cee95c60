import type { BlockState } from '../blocks/types.js'

/** The sequence of the newest event of each kind that a reader has seen; 0 for none. */
export interface EventPosition {
  /** Accept sequence. */
  readonly accepted: bigint
  /** Rejection sequence. */
  readonly rejected: bigint
  /** Sequence of the states that blocks have entered. */
  readonly block: bigint
}

/** A transaction that was accepted. */
export interface AcceptedEvent {
  readonly type: 'accepted'
  readonly position: EventPosition
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly at: Date
}

/** A submission that was rejected, or an accepted transaction that was dropped. */
export interface RejectedEvent {
  readonly type: 'rejected'
  readonly position: EventPosition
  readonly submissionId: string
  /** 32 bytes; absent if the submission does not decode. */
  readonly transactionId?: Uint8Array
  /** Code and message are those of the newest rejection of the same bytes. */
  readonly code: string
  readonly message: string
  readonly at: Date
}

/** A block that has entered a state. */
export interface BlockEvent {
  readonly type: 'block'
  readonly position: EventPosition
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  readonly state: BlockState
  readonly transactions: number
  /** POSIX milliseconds. */
  readonly endTime: bigint
  readonly commitTransactionId: Uint8Array
  /** Absent until the block's merge transaction is stored. */
  readonly mergeTransactionId?: Uint8Array
  readonly at: Date
}

export type StoreEvent = AcceptedEvent | RejectedEvent | BlockEvent

/** Which events to read; at most one of `transactions`, `address` and `headerHash`. */
export interface EventFilter {
  readonly types?: readonly StoreEvent['type'][]
  /**
   * Events of these transactions (32 bytes each) and of the blocks that have them. Of several rejections of
   * the same bytes the newest alone.
   */
  readonly transactions?: readonly Uint8Array[]
  /**
   * Acceptances of transactions that spend from or pay to this address, and the blocks that have such a
   * transaction.
   */
  readonly address?: Uint8Array
  /** Events of this block (28 bytes) alone. */
  readonly headerHash?: Uint8Array
}

/** A part of the events. */
export interface EventRange {
  readonly after: EventPosition
  /** What {@link Events.head} answered at some time. */
  readonly to: EventPosition
  readonly filter: EventFilter
  /** The most events of each kind, 1 to 1,000. */
  readonly limit: number
}

/** Events in order. */
export interface EventPage {
  readonly events: readonly StoreEvent[]
  /** Where the next page starts; equal to `to` if nothing is left. */
  readonly position: EventPosition
}

/**
 * Everything that has happened to transactions and blocks, as far as the store still has it: retention
 * forgets rejections, drops and removals take acceptances with them, a reset takes all acceptances.
 *
 * Each kind is written under a lock of its own that ends with the writer's transaction, so sequences become
 * visible in ascending order: nothing appears below a position that was read.
 */
export interface Events {
  /** The newest position. Three look-ups in indexes. */
  head(): Promise<EventPosition>
  /**
   * Each kind by ascending sequence; the states of a block after the acceptances of its transactions.
   *
   * @throws StoreError `STORE_INVALID_ARGUMENT` for a limit out of range
   */
  read(range: EventRange): Promise<EventPage>
}
