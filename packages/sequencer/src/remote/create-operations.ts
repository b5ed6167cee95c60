import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { JobEvents, JobQueue, QueueBackend } from '@ratatosk/queue'
import type { Sequencer } from '../types.js'
import { type OperationJob, type OperationJobResult, operationsQueue } from './serve-operations.js'
import { spaceRuns } from './space-runs.js'

export interface CreateOperationsOptions {
  readonly queue: QueueBackend
  /** The sequencer of this process, if any. While it is active, operations run on it directly. */
  readonly sequencer?: Pick<Sequencer, 'active' | 'run'>
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

/** How long results are kept for the process that waits for them, in seconds. */
const resultsKeptFor = 300

const pollEveryMs = 500

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
  let channel:
    | { readonly jobs: JobQueue<OperationJob, OperationJobResult>; readonly events: JobEvents }
    | undefined
  let isClosed = false
  /** Aborts when any operation ends, or this process: waiters re-read their job. */
  let ending = new AbortController()

  function wake(): void {
    ending.abort()
    ending = new AbortController()
  }

  /** Opened on first use: a process with the active sequencer never needs it. */
  function open() {
    channel ??= {
      jobs: queue.queue(operationsQueue),
      events: queue.events(operationsQueue).on('completed', wake).on('failed', wake),
    }
    return channel
  }

  async function runRemotely(operation: Operation, details?: OperationDetails): Promise<OperationResult> {
    const { jobs } = open()
    const options = {
      attempts: 1,
      removeOnComplete: { age: resultsKeptFor },
      removeOnFail: { age: resultsKeptFor },
    }
    const job = await jobs.add(
      operation,
      { operation, ...(details && { details }), expiresAt: Date.now() + timeoutMs },
      options,
    )
    const id = job.id ?? ''
    const deadline = performance.now() + timeoutMs
    for (let { signal } = ending; !isClosed && performance.now() < deadline; ) {
      // Polls as well, because the subscription to events starts a little late and may miss the first.
      await sleep(Math.min(pollEveryMs, timeoutMs), undefined, { ref: false, signal }).catch(() => undefined)
      signal = ending.signal
      if (isClosed) break
      const found = await jobs.getJob(id)
      if (found?.finishedOn === undefined) continue
      if (found.failedReason)
        throw new Error(`The ${operation} failed at the sequencer: ${found.failedReason}`)
      return found.returnvalue.kind === 'expired' ? notTaken(operation) : found.returnvalue
    }
    if (isClosed) return { kind: 'timed-out', message: `This process ended before the ${operation} did` }
    const removed = await jobs.remove(id).catch(() => 0)
    if (removed === 1) return notTaken(operation)
    return {
      kind: 'timed-out',
      message: `The ${operation} is still running at the sequencer; it did not end in time`,
    }
  }

  const spaced = spaceRuns(
    (operation, details) =>
      sequencer?.active ? sequencer.run(operation, details) : runRemotely(operation, details),
    intervalMs,
  )
  return {
    run: spaced.run,
    async close() {
      isClosed = true
      wake()
      spaced.close()
      await Promise.all([channel?.jobs.close(), channel?.events.close()])
    },
  }
}

function notTaken(operation: Operation): OperationResult {
  return {
    kind: 'timed-out',
    message: `No active sequencer took the ${operation} in time; it will not run later`,
  }
}
