import { Semaphore } from 'async-mutex'
import type { Job } from 'bullmq'
import type { JobWorker, QueueBackend } from '../types.js'
import { jobOfOne, type QueuedTransaction, type QueuedTransactions, queuedCbor } from './job.js'
import { jobSizes, submissionQueueName } from './submission-queue.js'

/** One delivery of a queued transaction. */
export interface Delivery {
  /** The id that {@link SubmissionQueue.add} returned. */
  readonly id: string
  /** The transaction's CBOR, as submitted. */
  readonly cbor: Uint8Array
  /** 1 for the first delivery, plus one for each that ended in `again`. */
  readonly attempt: number
  readonly submittedAt: Date
}

/**
 * How a delivery ends: `done` removes the transaction from the queue, `again` delivers it again after
 * `afterMs` milliseconds, `later` does so without counting an attempt, `release` returns it to the queue at
 * once without counting an attempt.
 */
export type Disposition =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'release' }

/** The place that a delivery takes of its worker's `concurrency`. */
export interface DeliverySlot {
  /**
   * Frees the place until the delivery ends, because the handler waits for something else than the queue. The
   * caller bounds how many deliveries wait like this.
   */
  vacate(): void
}

/** Options of {@link createSubmissionWorker}. */
export interface SubmissionWorkerOptions {
  /** The most deliveries handled at a time. */
  readonly concurrency: number
  /**
   * How long an unresponsive worker keeps its deliveries, in milliseconds.
   * @defaultValue {@link defaultLockMs}
   */
  readonly lockDurationMs?: number
  /**
   * Interval of scans for deliveries of unresponsive workers, in milliseconds. @defaultValue a third of
   * the above
   */
  readonly stalledIntervalMs?: number
}

/**
 * A worker that was killed loses its deliveries to others within 4/3 of this time: before transactions that
 * need their outputs have had all their attempts, which take 3.75 s by default.
 */
export const defaultLockMs = 2000

/** A running consumer of the submission queue. */
export interface SubmissionWorker {
  /** Resolves when the worker is connected and takes deliveries. */
  ready(): Promise<void>
  /** Stops taking deliveries and resolves when those in progress are handled. */
  close(): Promise<void>
}

/** Deliveries held in addition to `concurrency`, so that repeated deliveries do not block new ones. */
const heldCapacity = 2048

/** Delay before a full worker is woken, so that deliveries that leave their slots together wake it once. */
const wakeDelayMs = 20

/** The most jobs taken from the queue before the first of them is started. */
const maxJobsTaken = 16

/** A number that both SQL and Lua can represent and that no transaction reaches. */
const unlimited = 2 ** 31 - 1

/** Delay of a delivery whose handler rejected. */
const failedDelayMs = 1_000

/** A transaction that its job is delivered again for. */
interface Left {
  readonly transaction: QueuedTransaction
  readonly afterMs: number
}

/**
 * Delivers queued transactions at least once: until `handle` resolves with `done`, across crashes. A delivery
 * whose `handle` rejects is repeated after one second.
 *
 * @param handle processes one delivery and decides how it ends
 *
 * @example
 * const worker = createSubmissionWorker(
 *   backend,
 *   async ({ cbor }) => ((await ledger.accepts(cbor)) ? { kind: 'done' } : { kind: 'again', afterMs: 250 }),
 *   { concurrency: 100 },
 * )
 */
export function createSubmissionWorker(
  backend: QueueBackend,
  handle: (delivery: Delivery, slot: DeliverySlot) => Promise<Disposition>,
  options: SubmissionWorkerOptions,
): SubmissionWorker {
  const { concurrency, lockDurationMs: lockDuration = defaultLockMs } = options
  const { transactions: jobSize } = jobSizes[backend.kind]
  const worker = backend.worker<QueuedTransactions>(submissionQueueName, (job) => deliverJob(state, job), {
    concurrency: jobsFor(concurrency, jobSize),
    lockDuration,
    stalledInterval: options.stalledIntervalMs ?? Math.ceil(lockDuration / 3),
    // A transaction must not fail silently because its workers were killed.
    maxStalledCount: unlimited,
    removeOnComplete: { count: 0 },
    runRetryDelay: 1_000,
    settings: {
      backoffStrategy: (_attempts, _type, error) =>
        error instanceof PostponedError ? error.afterMs : failedDelayMs,
    },
  })
  const held = new HeldDeliveries(
    // Where other processes share the queue, a delivery returns to it, so that any of them can take it.
    backend.kind === 'pglite' ? heldCapacity : 0,
    async () => (await worker.getBackend().getCounts(['waiting']))[0] ?? 0,
  )
  const slots = new Semaphore(concurrency)
  const state: State = { handle, jobSize, worker, held, slots, activeJobs: 0, waking: undefined }
  worker.on('drained', () => applyConcurrency(state, true))
  worker.on('closing', () => {
    held.close()
    slots.cancel()
  })

  return {
    async ready() {
      await worker.waitUntilReady()
    },
    close() {
      clearTimeout(state.waking)
      return worker.close()
    },
  }
}

interface State {
  readonly handle: (delivery: Delivery, slot: DeliverySlot) => Promise<Disposition>
  /** The most transactions of a job. */
  readonly jobSize: number
  readonly worker: JobWorker<QueuedTransactions>
  readonly held: HeldDeliveries
  readonly slots: Semaphore
  activeJobs: number
  waking: NodeJS.Timeout | undefined
}

async function deliverJob(state: State, job: Job<QueuedTransactions, void>): Promise<void> {
  const { data, timestamp } = job
  // Finished work need not stay in memory until the last transaction is done.
  job.data = []
  state.activeJobs++
  try {
    const isAlone = data.length === 1
    const settling = data.map((each) => settle(state, each, timestamp, isAlone))
    applyConcurrency(state)
    const left = (await Promise.all(settling)).filter((each) => each !== undefined)
    if (left.length === 0) return
    await job.updateData(left.map(({ transaction }) => transaction))
    throw new PostponedError(Math.max(...left.map(({ afterMs }) => afterMs)))
  } finally {
    state.activeJobs--
    clearTimeout(state.waking)
    state.waking = undefined
    applyConcurrency(state)
  }
}

/** Delivers a transaction of a job. Unless it is done or in a job of its own, it is left in the job. */
async function settle(
  state: State,
  stored: QueuedTransaction,
  submittedAt: number,
  isAlone: boolean,
): Promise<Left | undefined> {
  const [transaction, disposition] = await deliver(state, stored, submittedAt)
  if (disposition.kind === 'done') return undefined
  const afterMs = disposition.kind === 'release' ? 0 : Math.max(0, Math.ceil(disposition.afterMs))
  if (disposition.kind === 'release' || isAlone) return { transaction, afterMs }
  try {
    // Those that are delivered with it may take long. If the job is delivered again, this one is not added
    // twice: its id is the same.
    const own = jobOfOne(transaction, { delay: afterMs, submittedAt })
    await state.worker.getBackend().addJob(own, own.id)
    return undefined
  } catch {
    return { transaction, afterMs }
  }
}

async function deliver(
  state: State,
  stored: QueuedTransaction,
  submittedAt: number,
): Promise<readonly [QueuedTransaction, Disposition]> {
  const { held } = state
  const delivery = { id: stored.id, cbor: queuedCbor(stored), submittedAt: new Date(submittedAt) }
  held.delivered()
  let place = false
  try {
    for (let transaction = stored; ; ) {
      const attempt = transaction.attempts + 1
      const disposition = await handleInSlot(state, { ...delivery, attempt })
      if (disposition.kind !== 'again') return [transaction, disposition]
      transaction = { ...transaction, attempts: attempt }
      place ||= held.take()
      if (!place) return [transaction, disposition]
      if (!(await held.elapsed(disposition.afterMs))) return [transaction, { kind: 'release' }]
    }
  } finally {
    if (place) held.leave()
  }
}

async function handleInSlot(state: State, delivery: Delivery): Promise<Disposition> {
  const { worker, slots } = state
  if (worker.closing !== undefined) return { kind: 'release' }
  // Rejects once the worker closes.
  const [, release] = await slots.acquire().catch(() => [])
  if (release === undefined) return { kind: 'release' }
  let isTaken = true
  const vacate = (): void => {
    if (!isTaken) return
    isTaken = false
    const wasFull = slots.isLocked()
    release()
    applyConcurrency(state)
    if (wasFull && !slots.isLocked()) wakeSoon(state)
  }
  try {
    return await state.handle(delivery, { vacate })
  } catch {
    return { kind: 'again', afterMs: failedDelayMs }
  } finally {
    vacate()
  }
}

/**
 * BullMQ takes jobs until it has as many as its `concurrency`, and starts none of them before; until then
 * nothing renews their locks. So it may have only a few more than those that are started, and starts again
 * with a few when the queue was empty.
 */
function applyConcurrency({ worker, slots, activeJobs, jobSize }: State, restart = false): void {
  const more = jobsFor(slots.getValue(), jobSize)
  const most = Math.max(1, activeJobs + more)
  // A job that ends takes the next one along, unless BullMQ has too many by then.
  worker.concurrency = more === 0 || restart ? most : Math.max(worker.concurrency, most)
}

/** Others may be waiting for what this worker could not begin at once. */
function jobsFor(transactions: number, jobSize: number): number {
  return Math.min(maxJobsTaken, Math.ceil(transactions / jobSize))
}

/** A worker whose slots were all taken fetches jobs only when one ends, or when it resumes after a pause. */
function wakeSoon(state: State): void {
  const { worker } = state
  state.waking ??= setTimeout(async () => {
    state.waking = undefined
    if (worker.closing !== undefined) return
    await worker.pause(true)
    if (worker.closing === undefined) await worker.resume()
  }, wakeDelayMs)
}

/** Makes BullMQ deliver the job again. Without a stack, which BullMQ would store. */
class PostponedError extends Error {
  override readonly name = 'PostponedError'
  override stack = ''

  constructor(readonly afterMs: number) {
    super('to be delivered again')
  }
}

interface Held {
  /** POSIX milliseconds. */
  readonly due: number
  settle(elapsed: boolean): void
}

const tickMs = 50
/** While deliveries arrive closer together, the input that a held one waits for may be among them. */
const quietMs = 250
/** … but a held delivery does not wait longer than this past its due time. */
const maxOverdueMs = 5_000

/** Keeps deliveries to be repeated in memory: a return to PGlite's queue costs several statements. */
export class HeldDeliveries {
  readonly #capacity: number
  readonly #waiting: () => Promise<number>
  readonly #held = new Set<Held>()
  #size = 0
  /** POSIX milliseconds. */
  #lastDelivery = 0
  #timer: NodeJS.Timeout | undefined
  #counting = false
  #closed = false

  /** `capacity`: the most held deliveries; `waiting`: counts transactions that no worker has taken yet. */
  constructor(capacity: number, waiting: () => Promise<number>) {
    this.#capacity = capacity
    this.#waiting = waiting
  }

  /** Reserves a place; false if all are taken. */
  take(): boolean {
    if (this.#closed || this.#size >= this.#capacity) return false
    this.#size++
    return true
  }

  leave(): void {
    this.#size--
  }

  delivered(): void {
    this.#lastDelivery = Date.now()
  }

  /** Resolves with true after the time and the deliveries waiting before; with false once closed. */
  async elapsed(milliseconds: number): Promise<boolean> {
    if (this.#closed) return false
    this.#timer ??= setInterval(() => void this.#tick(), tickMs)
    return new Promise((settle) => {
      this.#held.add({ due: Date.now() + milliseconds, settle })
    })
  }

  close(): void {
    this.#closed = true
    for (const held of this.#held) this.#settle(held, false)
  }

  async #tick(): Promise<void> {
    const now = Date.now()
    const due = [...this.#held].filter((held) => held.due <= now)
    for (const held of due) if (held.due + maxOverdueMs <= now) this.#settle(held, true)
    if (due.length === 0 || this.#counting || now - this.#lastDelivery < quietMs) return
    this.#counting = true
    try {
      if ((await this.#waiting()) === 0) for (const held of due) this.#settle(held, true)
    } catch {
      // The next tick counts again.
    } finally {
      this.#counting = false
    }
  }

  #settle(held: Held, elapsed: boolean): void {
    this.#held.delete(held)
    held.settle(elapsed)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
