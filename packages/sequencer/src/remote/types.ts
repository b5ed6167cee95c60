import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { QueueBackend } from '@ratatosk/queue'
import type { Sequencer } from '../types.js'

/** Name of the queue that carries operations to the active sequencer. */
export const OPERATIONS = 'operations'

/** An operation on its way to the active sequencer. */
export interface OperationJob {
  readonly operation: Operation
  readonly details?: OperationDetails
  /** POSIX milliseconds from which nobody waits for the result; the operation must not run then. */
  readonly expiresAt: number
}

/** The result of an operation, or `expired` when it was taken too late and did not run. */
export type OperationJobResult = OperationResult | { readonly kind: 'expired' }

export interface ServeOperationsOptions {
  readonly queue: QueueBackend
  readonly sequencer: Pick<Sequencer, 'active' | 'subscribe' | 'run'>
  /**
   * Least time between the beginnings of two runs of one operation, in milliseconds. Requests that come
   * earlier wait for the next run and share its result. @defaultValue 0
   */
  readonly intervalMs?: number
}

/** Takes operations from the queue while its sequencer is active. */
export interface OperationsServer {
  /** Resolves when the server takes operations, or its sequencer is not active. */
  ready(): Promise<void>
  /**
   * Takes no further operations and answers running ones with `timed-out`; the sequencer finishes them unless
   * it is closed.
   */
  close(): Promise<void>
}

export interface CreateOperationsOptions {
  readonly queue: QueueBackend
  /** The sequencer of this process, if any. While it is active, operations run on it directly. */
  readonly sequencer?: Pick<Sequencer, 'active' | 'run'>
  /** How long to wait for a result, in milliseconds. @defaultValue 190000 */
  readonly timeoutMs?: number
  /** As for `serveOperations`, for the callers in this process. @defaultValue 0 */
  readonly intervalMs?: number
}

/** Runs operations on the active sequencer, in whichever process it is. */
export interface Operations {
  /** Resolves with the result. Rejects when the operation failed unexpectedly at the sequencer. */
  run(operation: Operation, details?: OperationDetails): Promise<OperationResult>
  /** Ends waiting calls with `timed-out` and closes the queue. */
  close(): Promise<void>
}
