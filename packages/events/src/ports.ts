/**
 * How far a reader has come: the sequence of the newest event of each kind that it has seen. Each kind is
 * ordered on its own. Sequences start above 0 and may have gaps.
 */
export interface EventPosition {
  /** Accept sequence. */
  readonly accepted: bigint
  /** Rejection sequence. */
  readonly rejected: bigint
  /** Sequence of block transitions. */
  readonly block: bigint
}

/** A transaction that validation has accepted into the mempool. */
export interface AcceptedEvent {
  readonly type: 'accepted'
  readonly position: EventPosition
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly at: Date
}

/** A submission that was rejected for good, or an accepted transaction that was dropped. */
export interface RejectedEvent {
  readonly type: 'rejected'
  readonly position: EventPosition
  readonly submissionId: string
  /** 32 bytes; absent if the submission does not decode. */
  readonly transactionId?: Uint8Array
  /** Name of the first failed predicate, such as `FeeTooSmallUTxO`. */
  readonly code: string
  /** One sentence. */
  readonly message: string
  readonly at: Date
}

/** What a block can become. */
export type BlockEventState = 'built' | 'submitted' | 'committed' | 'mature' | 'merged' | 'removed'

/** A block that has entered a state, forwards or, after a roll-back of layer 1 or a removal, backwards. */
export interface BlockEvent {
  readonly type: 'block'
  readonly position: EventPosition
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly height: bigint
  readonly state: BlockEventState
  /** How many transactions the block has. */
  readonly transactions: number
  /** End of the block, POSIX milliseconds. */
  readonly endTime: bigint
  /** Id of the layer-1 transaction that commits the block, 32 bytes. */
  readonly commitTransactionId: Uint8Array
  /** Id of the layer-1 transaction that merges the block, once it is signed. */
  readonly mergeTransactionId?: Uint8Array
  readonly at: Date
}

export type LedgerEvent = AcceptedEvent | RejectedEvent | BlockEvent

/** Which events are read; without one of `transactions`, `address` and `headerHash`, all of the types. */
export interface EventFilter {
  readonly types?: readonly LedgerEvent['type'][]
  /** Events of these transactions (ids of 32 bytes), and of the blocks that contain them. */
  readonly transactions?: readonly Uint8Array[]
  /** Acceptances that spend from or pay to this address, and the blocks that contain such a transaction. */
  readonly address?: Uint8Array
  /** Events of this block alone, 28 bytes. */
  readonly headerHash?: Uint8Array
}

/** A part of the events. */
export interface EventRange {
  readonly after: EventPosition
  /** As {@link EventLog.head} answered it. */
  readonly to: EventPosition
  readonly filter: EventFilter
  /** The most events of each kind. */
  readonly limit: number
}

/** Events that were read. */
export interface EventPage {
  /**
   * Acceptances, rejections and block transitions, each by ascending sequence; a block transition follows the
   * acceptances of the block. The position of an event includes those before it.
   */
  readonly events: readonly LedgerEvent[]
  /** Where to go on; equal to `to` when everything was read. */
  readonly position: EventPosition
}

/**
 * The events of a node in the order in which its store keeps them. `store.events` of `@ratatosk/store`
 * satisfies it.
 */
export interface EventLog {
  /** The newest position. Everything up to it can be read; nothing is added below it later. */
  head(): Promise<EventPosition>
  read(range: EventRange): Promise<EventPage>
}
