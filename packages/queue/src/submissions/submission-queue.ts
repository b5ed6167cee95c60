import { setImmediate as nextIteration } from 'node:timers/promises'
import { QueueError, requireKnown, wrongOption } from '../errors.js'
import type { JobQueue, QueueBackend } from '../types.js'
import {
  encodeTransaction,
  jobOfSubmission,
  jobPacker,
  type QueuedTransactions,
  type QueueSize,
  queuedCbor,
  sizeOfJob,
  submissionFinder,
  transactionOfSubmission,
} from './job.js'

/** Name of the queue between `POST /submit` and validation. */
export const submissionQueueName = 'submissions'

/** A submission that the queue has: before its first delivery, or between that and its verdict. */
export interface QueuedSubmission {
  readonly state: 'queued' | 'validating'
  readonly cbor: Uint8Array
  readonly submittedAt: Date
  /** How many deliveries ended in `again`. */
  readonly attempts: number
}

/** A submission whose id the queue has issued; `left` once its verdict is stored. */
export type FoundSubmission = (QueuedSubmission | { readonly state: 'left' }) & {
  /** 32 bytes; absent if the submission is not shaped like a transaction. */
  readonly transactionId?: Uint8Array
}

/** The queue between `POST /submit` and validation. */
export interface SubmissionQueue {
  /** The underlying BullMQ queue. A job holds one transaction or more. */
  readonly jobs: JobQueue<QueuedTransactions>
  /**
   * Adds a transaction to the queue.
   *
   * @param cbor the transaction's CBOR, of any length
   * @returns the id of the submission, once the backend has acknowledged the write
   * @throws QueueError `QUEUE_FULL` when `maxWaiting` transactions or `maxWaitingBytes` wait, with
   *   `retryAfterMs`;
   *   `QUEUE_UNAVAILABLE` within twice the backend's `requestTimeoutMs`; `QUEUE_CLOSED`. After
   *   `QUEUE_UNAVAILABLE` the write may still have reached the backend. Adding the transaction again is safe:
   *   validation applies it once.
   */
  add(cbor: Uint8Array): Promise<string>
  /**
   * Finds a submission that has no verdict yet. One whose verdict is stored may be found for as long as its
   * job takes to end. The state only moves on: from `queued` to `validating` to `left`.
   *
   * @param submissionId any text
   * @returns undefined if the text is no id that `add` returns
   * @throws QueueError `QUEUE_UNAVAILABLE`, `QUEUE_CLOSED`
   */
  find(submissionId: string): Promise<FoundSubmission | undefined>
  /**
   * Finds a transaction that has no verdict yet, whichever process it was added in. If it was submitted more
   * than once, the submission that is furthest is found.
   *
   * @param transactionId 32 bytes
   * @returns undefined if the queue does not have it (any more)
   * @throws QueueError `QUEUE_UNAVAILABLE`, `QUEUE_CLOSED`
   */
  findTransaction(transactionId: Uint8Array): Promise<QueuedSubmission | undefined>
  /**
   * The submissions that wait for validation, redeliveries included, and when the oldest was submitted. Takes
   * longer the more there is.
   *
   * @throws QueueError `QUEUE_CLOSED`
   */
  waiting(): Promise<WaitingSubmissions>
  /**
   * When the oldest of those without a delivery was submitted; undefined if there is none. Reads one job.
   *
   * @throws QueueError `QUEUE_CLOSED`
   */
  oldestAt(): Promise<Date | undefined>
}

/** The submissions that wait for validation. */
export interface WaitingSubmissions extends QueueSize {
  /** Undefined if nothing waits for its first delivery. */
  readonly oldestAt: Date | undefined
}

/** Options of {@link createSubmissionQueue}. */
export interface SubmissionQueueOptions {
  /**
   * The most transactions that may wait, redeliveries included; `add` rejects beyond it. The number is
   * estimated from a count every quarter of a second, so that it can be exceeded by what other processes add
   * in between.
   * @defaultValue no limit
   */
  readonly maxWaiting?: number
  /**
   * The most bytes of CBOR that may wait, estimated likewise. The queue's store needs about one and a half
   * times as many. @defaultValue no limit
   */
  readonly maxWaitingBytes?: number
}

/** The time after which a client of a full queue may try again. */
const retryAfterMs = 1000

/** Maximum size of a job. Larger ones save little, and are delivered again as a whole after a kill. */
export const jobSizes: Readonly<Record<QueueBackend['kind'], QueueSize>> = {
  redis: { transactions: 64, bytes: 65_536 },
  postgres: { transactions: 64, bytes: 65_536 },
  pglite: { transactions: 256, bytes: 262_144 },
}

/**
 * Opens the queue to which submitted transactions are added; {@link createSubmissionWorker} takes them from
 * it.
 *
 * @throws QueueError `QUEUE_CONFIGURATION` if a limit is not a positive integer
 *
 * @example
 * const submissions = createSubmissionQueue(backend, { maxWaiting: 100_000, maxWaitingBytes: 2 ** 28 })
 * const id = await submissions.add(Buffer.from('84a0a0f5f6', 'hex'))
 */
export function createSubmissionQueue(
  backend: QueueBackend,
  options: SubmissionQueueOptions = {},
): SubmissionQueue {
  requireKnown(options, ['maxWaiting', 'maxWaitingBytes'])
  const limits: QueueSize = {
    transactions: limitOf('maxWaiting', options.maxWaiting),
    bytes: limitOf('maxWaitingBytes', options.maxWaitingBytes),
  }
  const jobs = backend.queue<QueuedTransactions>(submissionQueueName, {
    streams: { events: { maxLen: 1000 } },
  })
  const finder = submissionFinder(jobs.getBackend(), submissionQueueName)
  const insert = inserter(backend, jobs)
  const isLimited = Object.values(limits).some(Number.isFinite)
  const limit = isLimited ? new WaitingLimit(limits, () => countWaiting(jobs)) : undefined

  async function add(cbor: Uint8Array): Promise<string> {
    refuseIfClosed(jobs)
    try {
      return await insert(cbor)
    } catch (cause) {
      if (cause instanceof QueueError) throw cause
      throw new QueueError('QUEUE_UNAVAILABLE', 'The queue did not accept the transaction', { cause })
    }
  }

  async function searching<Found>(search: () => Promise<Found>): Promise<Found> {
    refuseIfClosed(jobs)
    try {
      return await search()
    } catch (cause) {
      throw new QueueError('QUEUE_UNAVAILABLE', 'The queue did not search for the submission', { cause })
    }
  }

  async function find(id: string): Promise<FoundSubmission | undefined> {
    const jobId = jobOfSubmission(id)
    if (jobId === undefined) return undefined
    const transactionId = transactionOfSubmission(id)
    const named = transactionId && { transactionId }
    // A postponed transaction gets a job of its own before it leaves the one that it was added with, so this
    // one is read first.
    const first = await jobs.getJob(jobId)
    for (const job of [await jobs.getJob(id), first]) {
      // A job that Redis has evicted may have lost its fields before its id.
      const transaction = Array.isArray(job?.data) ? job.data.find((each) => each.id === id) : undefined
      if (job === undefined || transaction === undefined) continue
      const { attempts } = transaction
      return {
        // Starts are never uncounted, whereas a job that waits for its next delivery is not active. A job of
        // its own means that the transaction was delivered before.
        state: attempts > 0 || job.attemptsStarted > 0 || job.id === id ? 'validating' : 'queued',
        cbor: queuedCbor(transaction),
        submittedAt: new Date(job.timestamp),
        attempts,
        ...named,
      }
    }
    return { state: 'left', ...named }
  }

  async function findOldest(): Promise<Date | undefined> {
    refuseIfClosed(jobs)
    const [oldest] = await jobs.getJobs(['waiting'], 0, 0, true)
    return oldest && new Date(oldest.timestamp)
  }

  return {
    jobs,
    async waiting() {
      const [oldestAt, size] = await Promise.all([findOldest(), countWaiting(jobs)])
      return { ...size, oldestAt }
    },
    oldestAt: findOldest,
    async add(cbor) {
      if (limit === undefined) return add(cbor)
      refuseIfClosed(jobs)
      const id = await limit.admit(cbor.length, () => add(cbor))
      if (id === undefined) {
        const most = [
          ...(Number.isFinite(limits.transactions) ? [`${limits.transactions} transactions`] : []),
          ...(Number.isFinite(limits.bytes) ? [`${limits.bytes} bytes`] : []),
        ]
        throw new QueueError('QUEUE_FULL', `The queue is full: at most ${most.join(' and ')} may wait`, {
          retryAfterMs,
        })
      }
      return id
    },
    find: (id) => searching(() => find(id)),
    findTransaction: (transactionId) =>
      searching(() =>
        finder.find(encodeTransaction(transactionId), async (ids) => {
          const all = await Promise.all(ids.map(find))
          const found = all.flatMap((each) => (each === undefined || each.state === 'left' ? [] : [each]))
          return found.find(({ state }) => state === 'validating') ?? found[0]
        }),
      ),
  }
}

function limitOf(name: string, value = Number.POSITIVE_INFINITY): number {
  if (value !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(value) || value < 1))
    throw wrongOption(`${name} must be a positive integer`)
  return value
}

/** Adds simultaneous submissions as few jobs. Skips `Queue.addBulk`, which also creates `Job` objects. */
function inserter(
  backend: QueueBackend,
  jobs: JobQueue<QueuedTransactions>,
): (cbor: Uint8Array) => Promise<string> {
  const inner = jobs.getBackend()
  const size = jobSizes[backend.kind]
  const pack = jobPacker(size)
  const insert = async (batch: readonly Uint8Array[]) => {
    refuseIfClosed(jobs)
    const packed = pack(batch)
    const [first, ...others] = packed
    // On SQL, BullMQ adds many jobs through temporary tables, whose creation costs more than adding one job.
    if (first !== undefined && others.length === 0) await inner.addJob(first.job, first.job.id)
    else await inner.addJobs(packed.map(({ job }) => ({ job, jobId: job.id })))
    return packed.flatMap(({ submissionIds }) => submissionIds)
  }
  // On SQL, many jobs share the cost of a transaction.
  const batches =
    backend.kind === 'redis'
      ? { maxItems: size.transactions, quietIterations: 0, paceMs: 20, promptItems: 16, steadyQuietMs: 3 }
      : { maxItems: 512, quietIterations: 3, paceMs: 40, promptItems: 64, steadyQuietMs: 8 }
  return addsInBulk(insert, { ...batches, quietMs: 3 })
}

async function countWaiting(jobs: JobQueue<QueuedTransactions>): Promise<QueueSize> {
  const ids = await jobs.getBackend().getRanges(['waiting', 'delayed'], 0, -1)
  let [transactions, bytes] = [0, 0]
  for (const id of ids.flat()) {
    const size = sizeOfJob(id)
    transactions += size.transactions
    bytes += size.bytes
  }
  return { transactions, bytes }
}

/** BullMQ never settles a call on a closed queue. */
function refuseIfClosed(jobs: JobQueue<QueuedTransactions>): void {
  if (jobs.closing !== undefined) throw new QueueError('QUEUE_CLOSED', 'The queue is closed')
}

/** The shortest time between two counts, in milliseconds. */
const recountMs = 250
/** Counting takes at most one part in this many of the time. */
const countingShare = 20

/** Limits waiting transactions and bytes by the last count plus own additions; others' may exceed it. */
export class WaitingLimit {
  readonly #limit: QueueSize
  readonly #count: () => Promise<QueueSize>
  #counted: QueueSize = { transactions: 0, bytes: 0 }
  readonly #added = { transactions: 0, bytes: 0 }
  readonly #inProgress = { transactions: 0, bytes: 0 }
  /** On the clock of `performance.now()`. */
  #nextCount = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | undefined
  #known = false

  /** @param count what is waiting; if it rejects, the last estimate remains */
  constructor(limit: QueueSize, count: () => Promise<QueueSize>) {
    this.#limit = limit
    this.#count = count
  }

  /** Runs `add` for a transaction of this size; undefined if a limit is reached. */
  async admit<Result>(bytes: number, add: () => Promise<Result>): Promise<Result | undefined> {
    if (performance.now() >= this.#nextCount) this.#counting ??= this.#recount()
    if (!this.#known || this.#isReached(bytes)) await this.#counting
    if (this.#isReached(bytes)) return undefined
    for (const sum of [this.#added, this.#inProgress]) {
      sum.transactions++
      sum.bytes += bytes
    }
    try {
      return await add()
    } finally {
      this.#inProgress.transactions--
      this.#inProgress.bytes -= bytes
    }
  }

  #isReached(bytes: number): boolean {
    const { transactions, bytes: counted } = this.#counted
    return (
      transactions + this.#added.transactions >= this.#limit.transactions ||
      counted + this.#added.bytes + bytes > this.#limit.bytes
    )
  }

  async #recount(): Promise<void> {
    const started = performance.now()
    const transactions = this.#added.transactions - this.#inProgress.transactions
    const bytes = this.#added.bytes - this.#inProgress.bytes
    try {
      this.#counted = await this.#count()
      // Additions in progress when the count began may be missing in it.
      this.#added.transactions -= transactions
      this.#added.bytes -= bytes
      this.#known = true
    } catch {
      // If the store is not available, adding fails too.
    } finally {
      const ended = performance.now()
      this.#nextCount = ended + Math.max(recountMs, (ended - started) * countingShare)
      this.#counting = undefined
    }
  }
}

interface Pending<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

interface BulkOptions {
  readonly maxItems: number
  /** Event-loop iterations without a new item before a call; at least one. */
  readonly quietIterations: number
  /** Minimum milliseconds between starts of calls below `promptItems`: only a steady stream is collected. */
  readonly paceMs: number
  /** Milliseconds without a new item that end such a wait: answered clients are back, or gone. */
  readonly quietMs: number
  /** The same after a call of `steadySize` items or more, whose clients are many. */
  readonly steadyQuietMs: number
  /** So many items are not held back. */
  readonly promptItems: number
}

/** A call of so many items is of a stream: a client that waits for each answer sends one. */
const steadySize = 4

/**
 * Combines items of the same few event-loop iterations, or of a running call, into the next call; an embedded
 * database blocks the loop, so milliseconds mean little. All items of a call succeed or fail together.
 */
export function addsInBulk<Item, Result>(
  call: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxItems, quietIterations, paceMs, quietMs, steadyQuietMs, promptItems }: BulkOptions,
): (item: Item) => Promise<Result> {
  let pending: Pending<Item, Result>[] = []
  let draining = false
  let called = Number.NEGATIVE_INFINITY
  let calledWith = 0
  let onArrival = () => {}

  /** Waits until a call may start. */
  async function pace(): Promise<void> {
    const early = called + paceMs - performance.now()
    if (early <= 0 || pending.length >= promptItems) return
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(longest)
        clearTimeout(silence)
        onArrival = () => {}
        resolve()
      }
      const longest = setTimeout(end, early)
      const silence = setTimeout(end, calledWith < steadySize ? quietMs : steadyQuietMs)
      onArrival = () => {
        if (pending.length >= promptItems) end()
        else silence.refresh()
      }
    })
  }

  async function drain(): Promise<void> {
    draining = true
    while (pending.length > 0) {
      let quiet = 0
      do {
        const before = pending.length
        await nextIteration()
        quiet = pending.length === before ? quiet + 1 : 0
      } while (quiet < quietIterations && pending.length < maxItems)
      await pace()
      called = performance.now()
      const batch = pending.slice(0, maxItems)
      pending = pending.slice(maxItems)
      calledWith = batch.length
      try {
        const results = await call(batch.map(({ item }) => item))
        results.forEach((result, index) => {
          batch[index]?.resolve(result)
        })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    draining = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject })
      if (!draining) void drain()
      else onArrival()
    })
}
