import type { OperationResult } from '@ratatosk/http'

/** The operations of this plugin; repair belongs to the state queue. */
export const operations = ['init', 'commit', 'merge', 'reset'] as const

export type OperatorOperation = (typeof operations)[number]

/** Where operations are run, one at a time. */
export interface OperationsRunner {
  /**
   * Runs one operation to its end. What it may end as by the rules is a result; it rejects only for the unexpected.
   */
  run(operation: OperatorOperation): Promise<OperationResult>
}

/** A block and how many transactions it has. */
export interface BlockCount {
  readonly height: bigint
  /** As the node names it, such as `committed` or `merged`. */
  readonly state: string
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly transactions: number
}

/** What `GET /logBlocksTxsDB` asks. */
export interface BlockCounts {
  /** The newest blocks, `limit` at most, in the order in which they are to be logged. */
  counts(limit: number): Promise<readonly BlockCount[]>
}

/** What `GET /logGlobals` asks. */
export interface Globals {
  /** The node's state in memory, without secrets: it is logged as it is. */
  snapshot(): unknown
}
