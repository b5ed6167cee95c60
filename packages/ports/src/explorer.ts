import type { BlockState } from './blocks.js'

/** A block with the times at which it entered its states, by the clock of the database. */
export interface TimedBlock {
  /** 1 for the first block. */
  readonly height: bigint
  readonly state: BlockState
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** Plutus data CBOR of the ten fields. */
  readonly header: Uint8Array
  /** End of the block, POSIX milliseconds. */
  readonly endTime: bigint
  /** How many transactions the block has. */
  readonly transactions: number
  /** Id of the layer-1 transaction that commits the block, 32 bytes; `null` if another operator did. */
  readonly commitTransactionId: Uint8Array | null
  /** CBOR of that transaction. */
  readonly commitTransaction: Uint8Array | null
  /** Id of the layer-1 transaction that merges the block, 32 bytes; `null` until it is signed. */
  readonly mergeTransactionId: Uint8Array | null
  readonly builtAt: Date
  /** This and the times below are `null` for a state that the block has not entered. */
  readonly submittedAt: Date | null
  readonly committedAt: Date | null
  readonly maturedAt: Date | null
  readonly mergedAt: Date | null
  readonly removedAt: Date | null
}

/** Blocks of one state, and their transactions. */
export interface BlockTotal {
  readonly state: Exclude<BlockState, 'removed'>
  readonly blocks: number
  readonly transactions: number
}

/** How many transactions something happened to in a minute. */
export interface MinuteCount {
  /** Begin of the minute. */
  readonly minute: Date
  readonly transactions: number
}

/** How many of a range of sequences fell into each minute. */
export interface CountedMinutes {
  readonly minutes: readonly MinuteCount[]
  /** The last sequence that is counted; undefined if the range has none. */
  readonly last: bigint | undefined
}

/** How long transactions took, in milliseconds. */
export interface Delay {
  readonly p50: number
  readonly p95: number
  /** How many transactions were measured. */
  readonly transactions: number
}

/** An output that the index knows. */
export interface ExplorerOutput {
  /** 32 bytes. */
  readonly transactionId: Uint8Array
  readonly index: number
  /** Accept sequence of that transaction; negative for an output of the genesis. */
  readonly sequence: bigint
  /** CBOR of the transaction output. */
  readonly output: Uint8Array
  /** The transaction that spends it; `valid` is false if it is spent as collateral. */
  readonly spent?: { readonly id: Uint8Array; readonly valid: boolean }
}

/** The explorer's reads of a node's blocks. `store.explorer` of `@ratatosk/store` implements it. */
export interface ExplorerReads {
  /** Blocks that are not removed, newest first. `before`: only lower ones. */
  blocks(part: { readonly before?: bigint; readonly limit: number }): Promise<readonly TimedBlock[]>
  /** A block by its header hash (28 bytes), in any state; or by its height, unless it is removed. */
  block(id: Uint8Array | bigint): Promise<TimedBlock | undefined>
  /** Blocks by state with a height above `after` and up to `to`; states without blocks are absent. */
  totals(after: bigint, to: bigint): Promise<readonly BlockTotal[]>
  /** Acceptances with a sequence of the event log above `after`, the `limit` oldest of them, up to `to`. */
  accepted(after: bigint, to: bigint, limit: number): Promise<CountedMinutes>
  /** The sequence before the newest `count` acceptances up to `to`; 0 if there are no more of them. */
  acceptedBefore(to: bigint, count: number): Promise<bigint>
  /** Rejected submissions, as acceptances. */
  rejected(after: bigint, to: bigint, limit: number): Promise<CountedMinutes>
  /**
   * Transactions by the minute in which their block was committed, or merged; of the newest 5,000 blocks in
   * this state.
   */
  moved(to: 'committed' | 'merged', since: Date): Promise<readonly MinuteCount[]>
  /**
   * From acceptance to the commit, or from the commit to the merge, of the newest blocks that were
   * committed, or merged, since a time: whole blocks until `limit` transactions are measured. Undefined
   * without any.
   */
  delay(to: 'committed' | 'merged', since: Date, limit: number): Promise<Delay | undefined>
}
