import { setTimeout as sleep } from 'node:timers/promises'
import { type IQueueBackend, PostgresQueueBackend, RedisQueueBackend } from 'bullmq'
import type { ChainableCommander } from 'ioredis'
import { joinSubmissionId, splitSubmissionId } from './submission-id.js'

/** Characters of a transaction in the name of its job: 36 bits. */
const width = 6
/** Stands for what is not shaped like a transaction. */
const none = '.'.repeat(width)
/** Scans take at most one part in this many of the time. */
const scanShare = 5
/** Names per request. */
const namesAtATime = 500
/** Maximum number of submissions of one transaction that are read. */
const maxFound = 16

/** A job's name, from its transactions: found without an index, which each submission would have to write. */
export function nameOfJob(submissionIds: readonly string[]): string {
  return submissionIds.map((id) => splitSubmissionId(id).transaction?.slice(0, width) ?? none).join('')
}

/** Names of jobs, by their ids. */
export type JobNames = ReadonlyMap<string, string>

/** Finds submissions by the names of the jobs that are in the queue. */
export class SubmissionFinder {
  readonly #read: (known: JobNames) => Promise<JobNames>
  #names: JobNames = new Map()
  #running: Promise<void> = Promise.resolve()
  #upcoming: Promise<void> | undefined
  /** On the clock of `performance.now()`. */
  #nextScan = Number.NEGATIVE_INFINITY

  /** @param read the names of the jobs in the queue; given those that it returned before */
  constructor(read: (known: JobNames) => Promise<JobNames>) {
    this.#read = read
  }

  /** Calls `find` with possible submissions of the last scan, then of the next. `transaction`: base64url. */
  async find<Found>(
    transaction: string,
    find: (submissionIds: readonly string[]) => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const seen = this.#candidates(transaction)
    const found = seen.length > 0 ? await find(seen) : undefined
    if (found !== undefined) return found
    await this.#scan()
    const ids = this.#candidates(transaction)
    return ids.length > 0 ? find(ids) : undefined
  }

  #candidates(transaction: string): readonly string[] {
    const beginning = transaction.slice(0, width)
    const ids: string[] = []
    for (const [jobId, name] of this.#names) {
      if (!name.includes(beginning)) continue
      // A job of its own has the id of the submission.
      if (splitSubmissionId(jobId).transaction === transaction) ids.push(jobId)
      for (let index = 0; index * width < name.length; index++) {
        if (name.startsWith(beginning, index * width)) {
          ids.push(joinSubmissionId(`${jobId}.${index.toString(36)}`, transaction))
        }
      }
      if (ids.length >= maxFound) break
    }
    return ids
  }

  /** Resolves when the next scan has ended; earlier callers share it. */
  #scan(): Promise<void> {
    this.#upcoming ??= this.#scanNext()
    return this.#upcoming
  }

  async #scanNext(): Promise<void> {
    await this.#running.catch(() => undefined)
    await sleep(Math.max(0, this.#nextScan - performance.now()))
    const scanning = this.#scanNow()
    this.#running = scanning
    this.#upcoming = undefined
    await scanning
  }

  async #scanNow(): Promise<void> {
    const started = performance.now()
    try {
      this.#names = await this.#read(this.#names)
    } finally {
      const ended = performance.now()
      this.#nextScan = ended + (ended - started) * (scanShare - 1)
    }
  }
}

/** @param inner what BullMQ's queue works with */
export function submissionFinder(inner: IQueueBackend, queue: string): SubmissionFinder {
  if (inner instanceof RedisQueueBackend) return new SubmissionFinder((known) => namesOnRedis(inner, known))
  if (inner instanceof PostgresQueueBackend) return new SubmissionFinder(() => namesOnSql(inner, queue))
  throw new TypeError('The queue is neither on Redis nor on PostgreSQL')
}

async function namesOnRedis(inner: RedisQueueBackend, known: JobNames): Promise<JobNames> {
  const ids = (await inner.getRanges(['waiting', 'delayed', 'active'], 0, -1)).flat()
  const names = new Map<string, string>()
  const unknown: string[] = []
  for (const id of ids) {
    const name = known.get(id)
    if (name === undefined) unknown.push(id)
    else names.set(id, name)
  }
  for (let start = 0; start < unknown.length; start += namesAtATime) {
    const some = unknown.slice(start, start + namesAtATime)
    // BullMQ's type has only the commands that it uses itself.
    const pipeline = (await inner.client).pipeline() as unknown as ChainableCommander
    for (const id of some) pipeline.hget(inner.toKey(id), 'name')
    const answers = (await pipeline.exec()) ?? []
    for (const [index, [error, name]] of answers.entries()) {
      if (error !== null) throw error
      const id = some[index]
      if (id !== undefined && typeof name === 'string') names.set(id, name)
    }
  }
  return names
}

async function namesOnSql(inner: PostgresQueueBackend, queue: string): Promise<JobNames> {
  const { rows } = await inner.connection.pool.query<{ id: string; name: string }>(
    'SELECT id, name FROM job WHERE queue = $1',
    [queue],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
