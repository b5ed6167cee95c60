import { randomBytes } from 'node:crypto'
import type { JobJson, JobsOptions } from 'bullmq'
import { addsInBulk } from './bulk-add.js'
import { QueueError } from './errors.js'
import type { JobQueue, QueueBackend } from './types.js'

/** The name of the queue between `POST /submit` and validation. */
export const SUBMISSIONS = 'submissions'

/**
 * What a submission's job holds: the transaction's CBOR in base64, which JSON carries at two thirds of the length of
 * hex.
 */
export type Submission = string

/** Submitted transactions on their way to validation. */
export interface SubmissionQueue {
  readonly jobs: JobQueue<Submission>
  /**
   * Puts a transaction's CBOR into the queue; resolves with the job's id when the backend has acknowledged the write.
   *
   * @throws QueueError `QUEUE_UNAVAILABLE` within twice the backend's `requestTimeoutMs`, `QUEUE_CLOSED`. The write may have reached
   *   the backend all the same: submitting again is safe, since validation gives a transaction one effect only.
   */
  add(cbor: Uint8Array): Promise<string>
}

/**
 * Ids that no other process and no later life of the same queue gives: a counter of BullMQ's begins anew where Redis has
 * lost its data, and dead letters are told apart by these ids for ever.
 */
function idGenerator(): () => string {
  const process = randomBytes(9).toString('base64url')
  let count = 0
  return () => `${process}-${(count++).toString(36)}`
}

/** How often and when a job is redelivered is the worker's to decide, by a back-off strategy of its own. */
const options: JobsOptions = { attempts: 2 ** 31 - 1, backoff: { type: 'custom' } }

/**
 * @example
 * const submissions = createSubmissionQueue(backend)
 * const id = await submissions.add(Buffer.from('84a300…', 'hex'))
 */
export function createSubmissionQueue(backend: QueueBackend): SubmissionQueue {
  const jobs = backend.queue<Submission>(SUBMISSIONS, { streams: { events: { maxLen: 1000 } } })
  const nextId = idGenerator()
  const insert = inserter(backend, jobs)
  return {
    jobs,
    async add(cbor) {
      refuseIfClosed(jobs)
      const job = newJob(nextId(), cbor)
      try {
        await insert(job)
        return job.id
      } catch (cause) {
        if (cause instanceof QueueError) throw cause
        throw new QueueError('QUEUE_UNAVAILABLE', 'The queue did not take the transaction', { cause })
      }
    },
  }
}

/**
 * Inserts through BullMQ's backend interface, one step below `Queue.add`: what that adds is the `Job` object, which nobody
 * looks at here, and it takes a fifth of what a submission costs the node.
 *
 * Redis pipelines single inserts as fast as they come; SQL has a transaction to pay for, which many can share.
 */
function inserter({ kind }: QueueBackend, jobs: JobQueue<Submission>): (job: JobJson) => Promise<unknown> {
  const inner = jobs.getBackend()
  if (kind === 'redis') return (job) => inner.addJob(job, job.id)
  return addsInBulk((batch: readonly JobJson[]) => {
    refuseIfClosed(jobs)
    return inner.addJobs(batch.map((job) => ({ job, jobId: job.id })))
  })
}

function newJob(id: string, cbor: Uint8Array): JobJson {
  const { buffer, byteOffset, byteLength } = cbor
  return {
    id,
    name: 'transaction',
    // A JSON text: base64 has nothing to escape.
    data: `"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"`,
    opts: options,
    timestamp: Date.now(),
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 0,
    stalledCounter: 0,
    failedReason: '',
    returnvalue: '',
  }
}

/** BullMQ leaves a call on a closed queue unanswered for ever. */
function refuseIfClosed(jobs: JobQueue<Submission>): void {
  if (jobs.closing !== undefined) throw new QueueError('QUEUE_CLOSED', 'The queue is closed')
}

/** The transaction's CBOR from a job's data. */
export function submittedCbor(data: Submission): Uint8Array {
  // A copy: small Buffers are slices of a shared pool, which they would keep alive.
  return new Uint8Array(Buffer.from(data, 'base64'))
}
