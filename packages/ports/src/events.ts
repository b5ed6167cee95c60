import type { BlockState } from './blocks.js'
import type { VerdictFinding } from './verdicts.js'

/** Validation accepted a transaction into the mempool. */
export interface AcceptedEvent {
  readonly type: 'accepted'
  readonly position: EventPosition
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly at: Date
}

/** A submission was rejected for good, or an accepted transaction was dropped. */
export interface RejectedEvent {
  readonly type: 'rejected'
  readonly position: EventPosition
  readonly submissionId: string
  /** 32 bytes; absent if the submission does not decode. */
  readonly transactionId?: Uint8Array
  /**
   * Name of the first failed predicate, such as `FeeTooSmallUTxO`. Code and message are those of the newest
   * rejection of the same bytes.
   */
  readonly code: string
  /** One sentence. */
  readonly message: string
  readonly at: Date
}

/** A block entered a state, forwards or, after a roll-back of layer 1 or a removal, backwards. */
export interface BlockEvent {
  readonly type: 'block'
  readonly position: EventPosition
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  readonly state: BlockState
  /** How many transactions the block has. */
  readonly transactions: number
  /** End of the block, POSIX milliseconds. */
  readonly endTime: bigint
  /** Id of the layer-1 transaction that commits the block, 32 bytes; absent if another operator did. */
  readonly commitTransactionId?: Uint8Array
  /** Id of the layer-1 transaction that merges the block, 32 bytes, once it is signed. */
  readonly mergeTransactionId?: Uint8Array
  readonly at: Date
}

/** The verdict about a block entered a state; an earlier one if layer 1 shows the block again. */
export interface VerdictEvent extends VerdictFinding {
  readonly type: 'verdict'
  readonly position: EventPosition
  readonly at: Date
}

/** Something that happened to a transaction or a block. */
export type LedgerEvent = AcceptedEvent | RejectedEvent | BlockEvent | VerdictEvent

/**
 * How far a reader of events has come: the sequence of the newest event of each kind that it has seen. Each
 * kind is ordered separately. Sequences start above 0 and may have gaps. A transaction keeps its sequence,
 * also when a block of another operator comes before.
 */
export type EventPosition = Readonly<Record<LedgerEvent['type'], bigint>>

/** Which events to read; at most one of `transactions`, `address` and `headerHash`. */
export interface EventFilter {
  /** Default: all types. */
  readonly types?: readonly LedgerEvent['type'][]
  /**
   * Events of these transactions (ids of 32 bytes) and of the blocks that contain them. Only the newest
   * rejection of the same bytes.
   */
  readonly transactions?: readonly Uint8Array[]
  /**
   * Acceptances of transactions that spend from or pay to this address (CIP-19 bytes), and the blocks that
   * contain such a transaction.
   */
  readonly address?: Uint8Array
  /** Only events and verdicts of this block, 28 bytes. */
  readonly headerHash?: Uint8Array
}

/** A range of events to read. */
export interface EventRange {
  readonly after: EventPosition
  /** A position that {@link EventLog.head} returned. */
  readonly to: EventPosition
  readonly filter: EventFilter
  /** The most events of each kind, 1 to 1,000. */
  readonly limit: number
}

/** Events in order. */
export interface EventPage {
  /**
   * Acceptances, rejections, block transitions and verdicts, each by ascending sequence; a block transition
   * follows the acceptances of the block. The position of an event includes those before it.
   */
  readonly events: readonly LedgerEvent[]
  /** Where the next page starts; equal to `to` if nothing is left. */
  readonly position: EventPosition
}

/** The events of a node, in order. `store.events` of `@ratatosk/store` implements it. */
export interface EventLog {
  /** The newest position. Everything up to it can be read; nothing is added below it later. */
  head(): Promise<EventPosition>
  /**
   * Reads events, each kind by ascending sequence.
   *
   * @throws (rejects) for a limit out of range
   */
  read(range: EventRange): Promise<EventPage>
}
