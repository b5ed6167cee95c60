import { once } from 'node:events'
import type { JobWorker } from '@ratatosk/queue'
import type { Operation } from '../sequencer/types.js'
import { OPERATIONS, type OperationJob, type OperationJobResult } from './operation-job.js'
import type { OperationsServer, ServeOperationsOptions } from './types.js'

/** So many that one that is refused because another runs is refused at once. */
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
export function serveOperations({ queue, sequencer }: ServeOperationsOptions): OperationsServer {
  let worker: JobWorker<OperationJob, OperationJobResult> | undefined
  const closing = new AbortController()
  const closed = once(closing.signal, 'abort')
  let turn: Promise<unknown> = Promise.resolve()

  function open(): JobWorker<OperationJob, OperationJobResult> {
    return queue.worker<OperationJob, OperationJobResult>(
      OPERATIONS,
      async ({ data: { operation, expiresAt } }) => {
        if (Date.now() >= expiresAt) return { kind: 'expired' }
        return Promise.race([sequencer.run(operation), ended(operation)])
      },
      // An operation whose sequencer was killed is not run again behind the back of whoever asked for it.
      { concurrency, maxStalledCount: 0 },
    )
  }

  /** Whoever waits is not kept waiting by a process that ends. */
  async function ended(operation: Operation): Promise<OperationJobResult> {
    await closed
    return {
      kind: 'timed-out',
      message: `The sequencer ended before the ${operation} did; what it began goes on with the next`,
    }
  }

  async function adjust(): Promise<void> {
    const wanted = sequencer.active && !closing.signal.aborted
    if (wanted && worker === undefined) {
      worker = open()
      await worker.waitUntilReady()
    } else if (!wanted && worker !== undefined) {
      const former = worker
      worker = undefined
      await former.close()
    }
  }

  function adjustInTurn(): Promise<unknown> {
    // A worker that cannot connect goes on trying; its backend tells of it.
    turn = turn.then(adjust).catch(() => undefined)
    return turn
  }

  const unsubscribe = sequencer.subscribe(adjustInTurn)
  adjustInTurn()
  return {
    async ready() {
      await turn
    },
    async close() {
      closing.abort()
      unsubscribe()
      await adjustInTurn()
    },
  }
}
