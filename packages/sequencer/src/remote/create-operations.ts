import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { JobEvents, JobQueue } from '@ratatosk/queue'
import { spaceRuns } from './space-runs.js'
import {
  type CreateOperationsOptions,
  OPERATIONS,
  type OperationJob,
  type OperationJobResult,
  type Operations,
} from './types.js'

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
  /** Aborts when any operation ends, or this process: whoever waits looks at its job. */
  let ending = new AbortController()

  function wake(): void {
    ending.abort()
    ending = new AbortController()
  }

  /** Opened on first use: a process with the active sequencer never needs it. */
  function open() {
    channel ??= {
      jobs: queue.queue(OPERATIONS),
      events: queue.events(OPERATIONS).on('completed', wake).on('failed', wake),
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
