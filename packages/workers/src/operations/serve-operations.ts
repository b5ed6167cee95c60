import type { JobWorker } from '@ratatosk/queue'
import { OPERATIONS, type OperationJob, type OperationJobResult } from './operation-job.js'
import type { OperationsServer, ServeOperationsOptions } from './types.js'

/** So many that one that is refused because another runs is refused at once. */
const concurrency = 64

/**
 * Takes operations from the queue while its sequencer is active. Close it after the sequencer, which ends what is under way.
 *
 * @example
 * const server = serveOperations({ queue, sequencer })
 * // …
 * await sequencer.close()
 * await server.close()
 */
export function serveOperations({ queue, sequencer }: ServeOperationsOptions): OperationsServer {
  let worker: JobWorker<OperationJob, OperationJobResult> | undefined
  let closed = false
  let turn: Promise<unknown> = Promise.resolve()

  function open(): JobWorker<OperationJob, OperationJobResult> {
    return queue.worker<OperationJob, OperationJobResult>(
      OPERATIONS,
      async ({ data: { operation, expiresAt } }) =>
        Date.now() < expiresAt ? sequencer.run(operation) : { kind: 'expired' },
      // An operation whose sequencer was killed is not run again behind the back of whoever asked for it.
      { concurrency, maxStalledCount: 0 },
    )
  }

  async function adjust(): Promise<void> {
    const wanted = sequencer.active && !closed
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
      closed = true
      unsubscribe()
      await adjustInTurn()
    },
  }
}
