import { setTimeout as sleep } from 'node:timers/promises'
import type { JobEvents, JobQueue, JobWorker, QueueBackend } from '@ratatosk/queue'
import { Mutex } from 'async-mutex'
import type { Sequencer } from '../types.js'

/** A request on its way to the active sequencer. */
type Call<Request> = Request & {
  /** POSIX milliseconds. The caller stops waiting then, and the request must not be served any more. */
  readonly expiresAt: number
}

/** The result, or `expired` when the call was taken too late and not served. */
type CallResult<Result> = Result | { readonly kind: 'expired' }

/** Why a call has no result. `running`: it was taken, and did not end in time. */
export type NoResult = 'not taken' | 'running' | 'closed'

/** Calls to the active sequencer of another process. */
export interface ActiveCalls<Request, Result> {
  /** Rejects when the sequencer failed unexpectedly. @param name of the job */
  call(name: string, request: Request): Promise<{ readonly result: Result } | NoResult>
  /** Ends waiting calls. */
  close(): Promise<void>
}

export interface CallOptions {
  readonly queue: QueueBackend
  /** Name of the queue that carries the calls. */
  readonly channel: string
  /** How long to wait for a result, in milliseconds. */
  readonly timeoutMs: number
  /** How long, in seconds, and how many results are kept for the processes that wait for them. */
  readonly kept: { readonly age: number; readonly count?: number }
}

const pollEveryMs = 500

/** Opens the queue on first use: a process with the active sequencer never needs it. */
export function openCalls<Request extends object, Result>({
  queue,
  channel,
  timeoutMs,
  kept,
}: CallOptions): ActiveCalls<Request, Result> {
  type Jobs = JobQueue<Call<Request>, CallResult<Result>>
  let opened: { readonly jobs: Jobs; readonly events: JobEvents } | undefined
  let isClosed = false
  /** Aborts when any call ends, or this process: waiters re-read their job. */
  let ending = new AbortController()

  function wake(): void {
    ending.abort()
    ending = new AbortController()
  }

  function open() {
    opened ??= {
      jobs: queue.queue(channel),
      events: queue.events(channel).on('completed', wake).on('failed', wake),
    }
    return opened
  }

  return {
    async call(name, request) {
      const { jobs } = open()
      const options = { attempts: 1, removeOnComplete: kept, removeOnFail: kept }
      const job = await jobs.add(name, { ...request, expiresAt: Date.now() + timeoutMs }, options)
      const id = job.id ?? ''
      const deadline = performance.now() + timeoutMs
      for (let { signal } = ending; !isClosed && performance.now() < deadline; ) {
        // Polls as well, because the subscription to events starts a little late and may miss the first.
        await sleep(Math.min(pollEveryMs, timeoutMs), undefined, { ref: false, signal }).catch(
          () => undefined,
        )
        signal = ending.signal
        if (isClosed) break
        const found = await jobs.getJob(id)
        if (found?.finishedOn === undefined) continue
        if (found.failedReason) throw new Error(`The ${name} failed at the sequencer: ${found.failedReason}`)
        const { returnvalue } = found
        return isExpired(returnvalue) ? 'not taken' : { result: returnvalue }
      }
      if (isClosed) return 'closed'
      const removed = await jobs.remove(id).catch(() => 0)
      return removed === 1 ? 'not taken' : 'running'
    },
    async close() {
      isClosed = true
      wake()
      await Promise.all([opened?.jobs.close(), opened?.events.close()])
    },
  }
}

function isExpired<Result>(result: CallResult<Result>): result is { readonly kind: 'expired' } {
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'expired'
}

export interface ServeCallsOptions<Request, Result> {
  readonly queue: QueueBackend
  readonly channel: string
  readonly sequencer: Pick<Sequencer, 'active' | 'subscribe'>
  /** Calls that are served at a time. */
  readonly concurrency: number
  serve(request: Request): Promise<Result>
}

/** Takes calls from the queue while its sequencer is active. */
export interface CallsServer {
  /** Resolves when the server takes calls, or its sequencer is not active. */
  ready(): Promise<void>
  /** Takes no further calls. */
  close(): Promise<void>
}

export function serveCalls<Request, Result>({
  queue,
  channel,
  sequencer,
  concurrency,
  serve,
}: ServeCallsOptions<Request, Result>): CallsServer {
  let worker: JobWorker<Call<Request>, CallResult<Result>> | undefined
  let isClosing = false
  const adjustments = new Mutex()

  function open() {
    return queue.worker<Call<Request>, CallResult<Result>>(
      channel,
      async ({ data }) => (Date.now() >= data.expiresAt ? { kind: 'expired' } : serve(data)),
      // A call whose sequencer was killed must not run again after its caller has given up.
      { concurrency, maxStalledCount: 0 },
    )
  }

  /** Opens or closes the worker, as the sequencer is active or not. */
  async function adjust(): Promise<void> {
    const isWanted = sequencer.active && !isClosing
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
      isClosing = true
      unsubscribe()
      await adjustInOrder()
    },
  }
}
