import { once } from 'node:events'
import type { Operation } from '@ratatosk/ports'
import type { JobWorker } from '@ratatosk/queue'
import { Mutex } from 'async-mutex'
import { spaceRuns } from './space-runs.js'
import {
  OPERATIONS,
  type OperationJob,
  type OperationJobResult,
  type OperationsServer,
  type ServeOperationsOptions,
} from './types.js'

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
      OPERATIONS,
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
      message: `The sequencer closed before the ${operation} ended; the next active sequencer continues what it began`,
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
