import { randomBytes } from 'node:crypto'
import type { JobJson, JobsOptions } from 'bullmq'
import { nameOfJob } from './by-transaction.js'
import { newJobId, newSubmissionId, type QueueSize } from './submission-id.js'

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
