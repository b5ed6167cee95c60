import { WaitingError } from 'bullmq'
import { SUBMISSIONS, type Submission, submittedCbor } from './submission-queue.js'
import type { QueueBackend } from './types.js'

/** One delivery of a submission. */
export interface SubmissionDelivery {
  /** What {@link SubmissionQueue.add} gave. */
  readonly id: string
  readonly cbor: Uint8Array
  /** How many deliveries there were that ended in `again`, and this one. */
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
      const disposition = await handle({
        id: job.id ?? '',
        cbor: submittedCbor(job.data),
        attempt: job.attemptsMade + 1,
        submittedAt: new Date(job.timestamp),
      })
      if (disposition.kind === 'again') throw new AgainError(disposition.afterMs)
      if (disposition.kind === 'release') {
        await job.moveToWait(token)
        throw new WaitingError()
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
