import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { transactionIdOf } from '@ratatosk/ledger'
import {
  type IQueueBackend,
  type JobJson,
  type JobsOptions,
  PostgresQueueBackend,
  RedisQueueBackend,
} from 'bullmq'
import type { ChainableCommander } from 'ioredis'

/** How much a job, or a queue, holds or may hold. */
export interface QueueSize {
  readonly transactions: number
  /** Bytes of CBOR. */
  readonly bytes: number
}

const kibibyte = 1024

/**
 * `<process>.<number>.<transactions>.<KiB>` names a job; with `.<index>` a submission in it, and with
 * `.<transaction>` one shaped like a transaction: 32 bytes in base64url. Numbers are in base 36.
 */
const pattern =
  /^([\w-]{12}\.[0-9a-z]{1,10}\.([0-9a-z]{1,4})\.([0-9a-z]{1,6}))(?:\.([0-9a-z]{1,4})(?:\.([\w-]{43}))?)?$/

/** The id of a new job, with its size, so that ids alone measure a queue. `process`: 12 unique characters. */
function newJobId(process: string, number: number, { transactions, bytes }: QueueSize): string {
  const numbers = [number, transactions, Math.ceil(bytes / kibibyte)]
  return [process, ...numbers.map((each) => each.toString(36))].join('.')
}

/** A submission's id, with its transaction id if it has one: its status needs no other record. */
function newSubmissionId(jobId: string, index: number, cbor: Uint8Array): string {
  const id = `${jobId}.${index.toString(36)}`
  const transactionId = transactionIdOf(cbor)
  return transactionId === undefined ? id : `${id}.${encodeTransaction(transactionId)}`
}

/** A transaction id as it is in the id of a submission. */
export function encodeTransaction({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64url')
}

/** Characters of an encoded transaction. */
const encodedLength = 43

/** A submission id without the transaction, and the transaction if there is one. */
function splitSubmissionId(id: string): { readonly place: string; readonly transaction?: string } {
  const dot = id.length - encodedLength - 1
  // The parts between dots are shorter than a transaction.
  return id[dot] === '.' ? { place: id.slice(0, dot), transaction: id.slice(dot + 1) } : { place: id }
}

/** Undoes {@link splitSubmissionId}. */
function joinSubmissionId(place: string, transaction: string): string {
  return `${place}.${transaction}`
}

/** The job of a submission id; undefined if the text cannot be one. */
export function jobOfSubmission(submissionId: string): string | undefined {
  const [, jobId, , , index] = pattern.exec(submissionId) ?? []
  return index === undefined ? undefined : jobId
}

/**
 * The transaction of a submission, from the id that `SubmissionQueue.add` returned.
 *
 * @param submissionId any text
 * @returns 32 bytes; undefined if the text is no such id, or the submission is not shaped like a transaction
 */
export function transactionOfSubmission(submissionId: string): Uint8Array | undefined {
  const encoded = pattern.exec(submissionId)?.[5]
  return encoded === undefined ? undefined : new Uint8Array(Buffer.from(encoded, 'base64url'))
}

/** The size in a job's id: transactions, and KiB rounded up. A submission's id is of its own job. */
export function sizeOfJob(id: string): QueueSize {
  const [, , transactions = '0', kibibytes = '0', index] = pattern.exec(id) ?? []
  const size = {
    transactions: Number.parseInt(transactions, 36),
    bytes: Number.parseInt(kibibytes, 36) * kibibyte,
  }
  if (index === undefined || size.transactions === 0) return size
  return { transactions: 1, bytes: Math.ceil(size.bytes / size.transactions) }
}

/** A submitted transaction as a job stores it. */
export interface QueuedTransaction {
  /** The id of the submission. */
  readonly id: string
  /** How many deliveries ended in `again`. */
  readonly attempts: number
  /** The transaction's CBOR in base64, which takes two thirds of the length of hex. */
  readonly cbor: string
}

/** Data of a job: one transaction or more. */
export type QueuedTransactions = readonly QueuedTransaction[]

/** A job before it is added, and the ids of the submissions in it, in order. */
interface NewJob {
  readonly job: JobJson & { readonly id: string }
  readonly submissionIds: readonly string[]
}

/** How often and when a job is delivered again is decided by the worker. */
const jobOptions: JobsOptions = { attempts: 2 ** 31 - 1, backoff: { type: 'custom' } }

/**
 * Packs transactions into jobs of `size` or one transaction. Ids are unique across restarts, unlike BullMQ's
 * counter: dead letters are identified by them for good.
 */
export function jobPacker({ transactions, bytes }: QueueSize): (cbor: readonly Uint8Array[]) => NewJob[] {
  const random = randomBytes(9)
  // No id begins with a hyphen: an id is an argument of commands, where a hyphen begins an option.
  random[0] = (random[0] ?? 0) & 0x7f
  const process = random.toString('base64url')
  let count = 0
  return (all) => {
    const jobs: NewJob[] = []
    for (let start = 0; start < all.length; ) {
      let end = start
      let size = 0
      do size += all[end++]?.length ?? 0
      while (end - start < transactions && end < all.length && size + (all[end]?.length ?? 0) <= bytes)
      const members = all.slice(start, end)
      const id = newJobId(process, count++, { transactions: members.length, bytes: size })
      const submissionIds = members.map((cbor, index) => newSubmissionId(id, index, cbor))
      const stored = members.map((cbor, index) => stringOf(submissionIds[index] ?? '', 0, base64(cbor)))
      jobs.push({ job: newJob(id, submissionIds, stored), submissionIds })
      start = end
    }
    return jobs
  }
}

/** The job of one transaction, delivered after `delay` milliseconds. Its id is the submission's. */
export function jobOfOne(
  { id, attempts, cbor }: QueuedTransaction,
  { delay, submittedAt }: { readonly delay: number; readonly submittedAt: number },
): NewJob['job'] {
  const job = newJob(id, [id], [stringOf(id, attempts, cbor)])
  return { ...job, opts: { ...jobOptions, delay }, timestamp: submittedAt }
}

/**
 * The CBOR of a queued transaction.
 *
 * @example
 * const all = job.data.map(queuedCbor)
 */
export function queuedCbor({ cbor }: QueuedTransaction): Uint8Array {
  // A copy: small Buffers are slices of a shared pool, which they would keep alive.
  return new Uint8Array(Buffer.from(cbor, 'base64'))
}

/** JSON text: ids and base64 have nothing to escape. */
function stringOf(id: string, attempts: number, cbor: string): string {
  return `{"id":"${id}","attempts":${attempts},"cbor":"${cbor}"}`
}

function base64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function newJob(id: string, submissionIds: readonly string[], stored: readonly string[]): NewJob['job'] {
  return {
    id,
    name: nameOfJob(submissionIds),
    data: `[${stored.join()}]`,
    opts: jobOptions,
    timestamp: Date.now(),
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 0,
    stalledCounter: 0,
    failedReason: '',
    returnvalue: '',
  }
}

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
