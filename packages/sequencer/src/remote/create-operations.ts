import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { QueueBackend } from '@ratatosk/queue'
import type { Sequencer } from '../types.js'
import { type NoResult, openCalls } from './active-calls.js'
import { isOfBond, type OperationRequest, operationsQueue } from './serve-operations.js'
import { spaceRuns } from './space-runs.js'

export interface CreateOperationsOptions {
  readonly queue: QueueBackend
  /**
   * The sequencer of this process, if any. While it is active, operations run on it directly. Those of the
   * bond run for its operator, or not at all.
   */
  readonly sequencer?: Pick<Sequencer, 'active' | 'operatorKey' | 'run'>
  /** How long to wait for a result, in milliseconds. @defaultValue 190000 */
  readonly timeoutMs?: number
  /** As for `serveOperations`, for the callers in this process. @defaultValue 0 */
  readonly intervalMs?: number
}

/** Runs operations on the active sequencer, in any process. */
export interface Operations {
  /** Resolves with the result. Rejects when the operation failed unexpectedly at the sequencer. */
  run(operation: Operation, details?: OperationDetails): Promise<OperationResult>
  /** Ends waiting calls with `timed-out` and closes the queue. */
  close(): Promise<void>
}

const resultsKept = { age: 300 }

const messages: Readonly<Record<NoResult, (operation: Operation) => string>> = {
  'not taken': (operation) => `No active sequencer took the ${operation} in time; it will not run later`,
  running: (operation) => `The ${operation} is still running at the sequencer; it did not end in time`,
  closed: (operation) => `This process ended before the ${operation} did`,
}

/**
 * Runs operations on the active sequencer: in this process, or in another one through the queue.
 *
 * @example
 * const operations = createOperations({ queue, timeoutMs: 60_000 })
 * const result = await operations.run('commit')
 * if (result.kind === 'timed-out') console.log(result.message)
 */
export function createOperations({
  queue,
  sequencer,
  timeoutMs = 190_000,
  intervalMs = 0,
}: CreateOperationsOptions): Operations {
  const remote = openCalls<OperationRequest, OperationResult>({
    queue,
    channel: operationsQueue,
    timeoutMs,
    kept: resultsKept,
  })

  async function runRemotely(operation: Operation, details?: OperationDetails): Promise<OperationResult> {
    const answer = await remote.call(operation, {
      operation,
      ...(details && { details }),
      ...(sequencer && isOfBond(operation) && { operatorKey: sequencer.operatorKey }),
    })
    if (typeof answer !== 'string') return answer.result
    return { kind: 'timed-out', message: messages[answer](operation) }
  }

  const spaced = spaceRuns(
    (operation, details) =>
      sequencer?.active ? sequencer.run(operation, details) : runRemotely(operation, details),
    intervalMs,
  )
  return {
    run: spaced.run,
    async close() {
      spaced.close()
      await remote.close()
    },
  }
}
