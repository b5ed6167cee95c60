import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'
import type { QueueBackend } from '@ratatosk/queue'
import type { Sequencer } from '../types.js'
import { type CallsServer, type NoResult, openCalls, serveCalls } from './active-calls.js'

/** Name of the queue that carries operations to the active sequencer. */
const operationsQueue = 'operations'

/** An operation on its way to the active sequencer. */
interface OperationRequest {
  readonly operation: Operation
  readonly details?: OperationDetails
  /** Key hash of the operator whose bond is meant, 56 hex digits. */
  readonly operatorKey?: string
}

/** Whether an operation changes the bond of one operator. */
const isOfBond = (operation: Operation): boolean =>
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

type RunOperation = (operation: Operation, details?: OperationDetails) => Promise<OperationResult>

interface SpacedRuns {
  readonly run: RunOperation
  /** Ends calls that wait for the next run with `timed-out`. */
  close(): void
}

interface Runs {
  /** When the latest began, by the monotonic clock. */
  beganAt: number
  isRunning: boolean
  /** The one that waits until it may begin. */
  next: { readonly headerHash: string | undefined; readonly result: Promise<OperationResult> } | undefined
}

/**
 * Starts runs of an operation at least `intervalMs` apart. Earlier calls wait and share the next run, so no
 * answer is older than its request. A call during a run is answered `busy`.
 */
export function spaceRuns(run: RunOperation, intervalMs: number): SpacedRuns {
  const closing = new AbortController()
  const operations = new Map<Operation, Runs>()

  function runsOf(operation: Operation): Runs {
    const known = operations.get(operation)
    if (known !== undefined) return known
    const runs: Runs = { beganAt: -Infinity, isRunning: false, next: undefined }
    operations.set(operation, runs)
    return runs
  }

  async function begin(
    runs: Runs,
    operation: Operation,
    details: OperationDetails | undefined,
  ): Promise<OperationResult> {
    const before = runs.beganAt
    runs.beganAt = performance.now()
    runs.isRunning = true
    try {
      const result = await run(operation, details)
      // That another operation runs was read from the store and cost layer 1 nothing.
      if (result.kind === 'busy') runs.beganAt = before
      return result
    } finally {
      runs.isRunning = false
    }
  }

  async function beginLater(
    runs: Runs,
    operation: Operation,
    details: OperationDetails | undefined,
    waitMs: number,
  ): Promise<OperationResult> {
    try {
      await sleep(waitMs, undefined, { signal: closing.signal, ref: false })
    } catch {
      return { kind: 'timed-out', message: `This process ended before the ${operation} began` }
    } finally {
      runs.next = undefined
    }
    return begin(runs, operation, details)
  }

  return {
    async run(operation, details) {
      const runs = runsOf(operation)
      if (runs.isRunning) return { kind: 'busy', operation }
      const headerHash = details?.headerHash
      if (runs.next !== undefined)
        return runs.next.headerHash === headerHash ? runs.next.result : { kind: 'busy', operation }
      const waitMs = runs.beganAt + intervalMs - performance.now()
      if (waitMs <= 0) return begin(runs, operation, details)
      const result = beginLater(runs, operation, details, waitMs)
      runs.next = { headerHash, result }
      return result
    },
    close: () => closing.abort(),
  }
}
