import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation, OperationDetails, OperationResult } from '@ratatosk/ports'

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
