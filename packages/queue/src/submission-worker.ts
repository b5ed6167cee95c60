import { WaitingError } from 'bullmq'
import { HeldDeliveries } from './held-deliveries.js'
import { SUBMISSIONS, type Submission, submittedCbor } from './submission-queue.js'
import type { QueueBackend } from './types.js'

/** One delivery of a submission. */
export interface SubmissionDelivery {
  /** What {@link SubmissionQueue.add} gave. */
  readonly id: string
  readonly cbor: Uint8Array
  /** How many deliveries there were that ended in `again`, and this one. Those of a PGlite's worker are counted in memory. */
  readonly attempt: number
  readonly submittedAt: Date
}

/**
 * What becomes of a delivery: `done` removes it from the queue, `again` delivers it anew after `afterMs`, `release` gives
 * it back as if it had not been delivered.
 */
export type Disposition =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'release' }

export interface SubmissionWorkerOptions {
  /** Deliveries at most that are handled at a time. */
  readonly concurrency: number
  /**
   * How long a worker that says nothing keeps its deliveries, in milliseconds.
   * @defaultValue 3000 on Redis, 10000 on SQL, where telling is dearer
   */
  readonly lockDurationMs?: number
  /** How often deliveries of silent workers are looked for, in milliseconds. @defaultValue a third of the above */
  readonly stalledIntervalMs?: number
}

export interface SubmissionWorker {
  /** Resolves when it is connected and takes deliveries. */
  ready(): Promise<void>
  /** Takes no more, and resolves when those that it has are handled. */
  close(): Promise<void>
}

/** Beyond `concurrency`, so that deliveries that come again keep no others out. */
const mostHeld = 2048

/** A number that SQL and Lua both hold, and that no submission reaches. */
const never = 2 ** 31 - 1

/**
 * Delivers submissions at least once: until `handle` resolves with `done`, whatever crashes. A delivery whose `handle`
 * rejects is repeated after a second.
 *
 * @example
 * const worker = createSubmissionWorker(
 *   backend,
 *   async ({ cbor }) => ((await isAccepted(cbor)) ? { kind: 'done' } : { kind: 'again', afterMs: 250 }),
 *   { concurrency: 100 },
 * )
 */
export function createSubmissionWorker(
  backend: QueueBackend,
  handle: (delivery: SubmissionDelivery) => Promise<Disposition>,
  options: SubmissionWorkerOptions,
): SubmissionWorker {
  const { lockDurationMs: lockDuration = backend.kind === 'redis' ? 3000 : 10_000 } = options
  const worker = backend.worker<Submission>(
    SUBMISSIONS,
    async (job, token) => {
      const delivery = {
        id: job.id ?? '',
        cbor: submittedCbor(job.data),
        submittedAt: new Date(job.timestamp),
      }
      held.delivered()
      let place = false
      try {
        for (let attempt = job.attemptsMade + 1; ; attempt++) {
          const disposition = await handle({ ...delivery, attempt })
          if (disposition.kind === 'done') return
          if (disposition.kind === 'again') {
            place ||= held.take()
            if (!place) throw new AgainError(disposition.afterMs)
            if (await held.passed(disposition.afterMs)) continue
          }
          await job.moveToWait(token)
          throw new WaitingError()
        }
      } finally {
        if (place) held.leave()
      }
    },
    {
      concurrency: options.concurrency,
      lockDuration,
      stalledInterval: options.stalledIntervalMs ?? Math.ceil(lockDuration / 3),
      // A submission must not fail silently because the workers that had it were killed.
      maxStalledCount: never,
      removeOnComplete: { count: 0 },
      runRetryDelay: 1_000,
      settings: {
        backoffStrategy: (_attempts, _type, error) => (isAgain(error) ? error.afterMs : 1_000),
      },
    },
  )
  const held = new HeldDeliveries(
    // Where other processes could take it, a delivery goes back to all of them.
    backend.kind === 'pglite' ? mostHeld : 0,
    (size) => {
      worker.concurrency = options.concurrency + size
    },
    async () => (await worker.getBackend().getCounts(['waiting']))[0] ?? 0,
  )
  worker.on('closing', () => held.close())
  return {
    async ready() {
      await worker.waitUntilReady()
    },
    close: () => worker.close(),
  }
}

/** How a BullMQ processor asks for another delivery. Without a stack, which would be kept with the job. */
class AgainError extends Error {
  override readonly name = 'AgainError'
  override stack = ''

  constructor(readonly afterMs: number) {
    super('to be delivered again')
  }
}

function isAgain(error: unknown): error is AgainError {
  return error instanceof AgainError
}
