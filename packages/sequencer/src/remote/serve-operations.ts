import { once } from 'node:events'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { QueueBackend } from '@ratatosk/queue'
import type { Sequencer } from '../types.js'
import { type CallsServer, serveCalls } from './active-calls.js'
import { spaceRuns } from './space-runs.js'

/** Name of the queue that carries operations to the active sequencer. */
export const operationsQueue = 'operations'

/** An operation on its way to the active sequencer. */
export interface OperationRequest {
  readonly operation: Operation
  readonly details?: OperationDetails
  /** Key hash of the operator whose bond is meant, 56 hex digits. */
  readonly operatorKey?: string
}

/** Whether an operation changes the bond of one operator. */
export const isOfBond = (operation: Operation): boolean =>
  operation === 'register' || operation === 'retire' || operation === 'release'

export interface ServeOperationsOptions {
  readonly queue: QueueBackend
  readonly sequencer: Pick<Sequencer, 'active' | 'operatorKey' | 'subscribe' | 'run'>
  /**
   * Least time between the beginnings of two runs of one operation, in milliseconds. Requests that come
   * earlier wait for the next run and share its result. @defaultValue 0
   */
  readonly intervalMs?: number
}

const otherOperator = (asked: string, active: string): OperationResult => ({
  kind: 'refused',
  code: 'SEQUENCER_NOT_ACTIVE',
  message:
    `The process that was asked stands by, with the operator ${asked}; the active one has ${active}. ` +
    'Stop the active one first, or ask it for its own operator',
})

/** High, so that an operation that is refused while another runs is refused at once. */
const concurrency = 64

/**
 * Takes operations from the queue while its sequencer is active. When it closes, it answers running ones with
 * `timed-out`; the sequencer finishes them unless it is closed.
 *
 * @example
 * const server = serveOperations({ queue, sequencer })
 * // …
 * await server.close()
 * await sequencer.close()
 */
export function serveOperations({ queue, sequencer, intervalMs = 0 }: ServeOperationsOptions): CallsServer {
  // Once more here, because several processes ask.
  const spaced = spaceRuns((operation, details) => sequencer.run(operation, details), intervalMs)
  const closing = new AbortController()
  const closed = once(closing.signal, 'abort')

  /** Answers the caller of a running operation when this process ends. */
  async function interrupted(operation: Operation): Promise<OperationResult> {
    await closed
    return {
      kind: 'timed-out',
      message:
        `The sequencer closed before the ${operation} ended; ` +
        'the next active sequencer continues what it began',
    }
  }

  const server = serveCalls<OperationRequest, OperationResult>({
    queue,
    channel: operationsQueue,
    sequencer,
    concurrency,
    async serve({ operation, details, operatorKey = sequencer.operatorKey }) {
      if (operatorKey !== sequencer.operatorKey) return otherOperator(operatorKey, sequencer.operatorKey)
      return Promise.race([spaced.run(operation, details), interrupted(operation)])
    },
  })
  return {
    ready: server.ready,
    async close() {
      closing.abort()
      spaced.close()
      await server.close()
    },
  }
}
