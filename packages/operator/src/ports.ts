import type { BlockCount, Operation, OperationDetails, OperationResult } from '@ratatosk/ports'

/** The operations of this plugin. `@ratatosk/state-queue` serves the remaining one, `repair`. */
export const operations = [
  'init',
  'commit',
  'merge',
  'reset',
  'remove',
  'register',
  'retire',
  'release',
] as const satisfies readonly Operation[]

/** One of {@link operations}. */
export type OperatorOperation = (typeof operations)[number]

/** Runs operations, one at a time. */
export interface OperationsRunner {
  /**
   * Runs one operation to its end. Every foreseen outcome is a result; rejects on unexpected failures only.
   *
   * @param details for `remove`: the block
   */
  run(operation: OperatorOperation, details?: OperationDetails): Promise<OperationResult>
}

/** Source of `GET /logBlocksTxsDB`. */
export interface BlockCounts {
  /** At most `limit` of the newest blocks, in the order in which they are to be logged. */
  counts(limit: number): Promise<readonly BlockCount[]>
}

/** Source of `GET /logGlobals`. */
export interface Globals {
  /**
   * The node's in-memory state, as a value or a promise. It is logged in full, so it must not contain
   * secrets.
   */
  snapshot(): unknown
}
