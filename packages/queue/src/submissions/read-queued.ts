import { openQueueBackend } from '../backend/open-queue-backend.js'
import { quoteSchema } from '../backend/schema-backend.js'
import { QueueError } from '../errors.js'
import { type QueuedTransaction, type QueuedTransactions, queuedCbor } from './job.js'
import { sizeOfJob } from './submission-id.js'
import { submissionQueueName } from './submission-queue.js'

/** Where a queue is that no process uses. */
export type StoredQueue =
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | {
      readonly kind: 'tables'
      readonly schema: string
      /** Runs SQL. */
      run(text: string, parameters: readonly string[]): Promise<{ readonly rows: readonly unknown[] }>
    }

/** Jobs per page: each has 256 KiB of CBOR at most, unless it is one transaction. */
const pageSize = 16
const states = ['active', 'waiting', 'delayed', 'prioritized', 'failed'] as const

/**
 * The transactions in a queue, in the order in which they were added; those that were delivered before may
 * come first. Page by page. It changes nothing.
 *
 * @param onMissing gets the number of transactions of each job that Redis lists but no longer has
 * @throws QueueError
 *
 * @example
 * for await (const page of readQueued({ kind: 'redis', url, prefix: 'ratatosk' })) console.log(page.length)
 */
export async function* readQueued(
  queue: StoredQueue,
  onMissing: (transactions: number) => void = () => undefined,
): AsyncGenerator<readonly Uint8Array[], void> {
  for await (const jobs of queue.kind === 'redis' ? inRedis(queue, onMissing) : inTables(queue))
    yield jobs.flatMap(transactionsOf).map(queuedCbor)
}

async function* inRedis(
  { url, prefix }: Extract<StoredQueue, { kind: 'redis' }>,
  onMissing: (transactions: number) => void,
): AsyncGenerator<readonly unknown[], void> {
  const backend = await openQueueBackend({ kind: 'redis', url, prefix })
  try {
    const jobs = backend.queue<QueuedTransactions>(submissionQueueName, { skipMetasUpdate: true })
    for (const state of states) {
      for (let start = 0; ; start += pageSize) {
        // By ids: `getJobs` leaves out a job without data, so that its pages may be short before the end.
        const ids = await jobs.getRanges([state], start, start + pageSize - 1, true)
        if (ids.length === 0) break
        const page = await Promise.all(ids.map((id) => jobs.getJob(id)))
        for (const [index, id] of ids.entries())
          if (page[index] === undefined) onMissing(sizeOfJob(id).transactions)
        yield page.filter((job) => job !== undefined).map(({ data }) => data)
      }
    }
  } finally {
    await backend.close()
  }
}

async function* inTables({
  schema,
  run,
}: Extract<StoredQueue, { kind: 'tables' }>): AsyncGenerator<readonly unknown[], void> {
  const table = `${quoteSchema(schema)}.job`
  const { rows: found } = await run('SELECT to_regclass($1) IS NOT NULL AS found', [table])
  if (columnOf(found[0], 'found') !== true) return
  for (let after = String(-(2n ** 63n)); ; ) {
    const { rows } = await run(
      `SELECT job.seq::text AS seq, job.data::text AS data FROM ${table} AS job
      WHERE queue = $1 AND state <> 'completed' AND job.seq > $2::bigint ORDER BY job.seq LIMIT ${pageSize}`,
      [submissionQueueName, after],
    )
    yield rows.map((row) => JSON.parse(String(columnOf(row, 'data'))))
    if (rows.length < pageSize) return
    after = String(columnOf(rows.at(-1), 'seq'))
  }
}

function columnOf(row: unknown, name: string): unknown {
  return typeof row === 'object' && row !== null
    ? Object.entries(row).find(([key]) => key === name)?.[1]
    : undefined
}

function transactionsOf(data: unknown): QueuedTransactions {
  if (Array.isArray(data) && data.every(isTransaction)) return data
  throw new QueueError('QUEUE_CONFIGURATION', 'The queue holds jobs of another version')
}

function isTransaction(value: unknown): value is QueuedTransaction {
  return typeof value === 'object' && value !== null && 'cbor' in value && typeof value.cbor === 'string'
}
