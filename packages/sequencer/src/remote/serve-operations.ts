import { once } from 'node:events'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { JobWorker, QueueBackend } from '@ratatosk/queue'
import { Mutex } from 'async-mutex'
import type { Sequencer } from '../types.js'
import { spaceRuns } from './space-runs.js'

/** Name of the queue that carries operations to the active sequencer. */
export const operationsQueue = 'operations'

/** An operation on its way to the active sequencer. */
export interface OperationJob {
  readonly operation: Operation
  readonly details?: OperationDetails
  /** POSIX milliseconds. The caller stops waiting then, and the operation must not run any more. */
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

/** High, so that an operation that is refused while another runs is refused at once. */
const concurrency = 64

/**
 * Takes operations from the queue while its sequencer is active.
 *
 * @example
 * const server = serveOperations({ queue, sequencer })
 * // …
 * await server.close()
 * await sequencer.close()
 */
export function serveOperations({
  queue,
  sequencer,
  intervalMs = 0,
}: ServeOperationsOptions): OperationsServer {
  // Once more here, because several processes ask.
  const spaced = spaceRuns((operation, details) => sequencer.run(operation, details), intervalMs)
  let worker: JobWorker<OperationJob, OperationJobResult> | undefined
  const closing = new AbortController()
  const closed = once(closing.signal, 'abort')
  const adjustments = new Mutex()

  function open(): JobWorker<OperationJob, OperationJobResult> {
    return queue.worker<OperationJob, OperationJobResult>(
      operationsQueue,
      async ({ data: { operation, details, expiresAt } }) => {
        if (Date.now() >= expiresAt) return { kind: 'expired' }
        return Promise.race([spaced.run(operation, details), interrupted(operation)])
      },
      // An operation whose sequencer was killed must not run again after its caller has given up.
      { concurrency, maxStalledCount: 0 },
    )
  }

  /** Answers the caller of a running operation when this process ends. */
  async function interrupted(operation: Operation): Promise<OperationJobResult> {
    await closed
    return {
      kind: 'timed-out',
      message:
        `The sequencer closed before the ${operation} ended; ` +
        'the next active sequencer continues what it began',
    }
  }

  /** Opens or closes the worker, as the sequencer is active or not. */
  async function adjust(): Promise<void> {
    const isWanted = sequencer.active && !closing.signal.aborted
    if (isWanted && worker === undefined) {
      worker = open()
      await worker.waitUntilReady()
    } else if (!isWanted && worker !== undefined) {
      const former = worker
      worker = undefined
      await former.close()
    }
  }

  // A worker that cannot connect keeps trying, and its backend reports it.
  const adjustInOrder = (): Promise<void> => adjustments.runExclusive(adjust).catch(() => undefined)

  const unsubscribe = sequencer.subscribe(adjustInOrder)
  void adjustInOrder()
  return {
    ready: () => adjustments.waitForUnlock(),
    async close() {
      closing.abort()
      spaced.close()
      unsubscribe()
      await adjustInOrder()
    },
  }
}
