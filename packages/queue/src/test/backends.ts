import type { PGlite } from '@electric-sql/pglite'
import {
  createPGlite,
  databaseUrl,
  inDatabase,
  randomName,
  redisUrl,
  removeKeys,
  type Service,
  whyMissing,
} from '@ratatosk/test-kit'
import type { TestContext } from 'vitest'
import {
  openQueueBackend,
  type QueueBackend,
  type QueuedTransaction,
  type SubmissionQueue,
} from '../index.js'

interface OpenedBackend {
  readonly backend: QueueBackend
  /** Opens a second backend on the same jobs, as another process would. */
  again(): Promise<QueueBackend>
}

/** Opens an isolated backend for a test and removes its data afterwards. */
export type Opener = (context: TestContext, requestTimeoutMs?: number) => Promise<OpenedBackend>

/** One for all tests of a vitest worker; it ends with the worker. */
let shared: Promise<PGlite> | undefined

export const openers: Record<QueueBackend['kind'], Opener> = {
  async pglite(context) {
    shared ??= createPGlite()
    const pglite = await shared
    const again = () => openQueueBackend({ kind: 'pglite', pglite })
    const backend = await again()
    context.onTestFinished(async () => {
      await backend.close()
      await pglite.exec('DROP SCHEMA ratatosk_queue CASCADE')
    })
    return { backend, again }
  },
  async postgres(context, requestTimeoutMs) {
    await reachable(context, 'PostgreSQL')
    const schema = randomName()
    const again = () =>
      openQueueBackend({ kind: 'postgres', url: databaseUrl, schema, ...bound(requestTimeoutMs) })
    const backend = await again()
    context.onTestFinished(async () => {
      await backend.close()
      await inDatabase(`DROP SCHEMA ${schema} CASCADE`)
    })
    return { backend, again }
  },
  async redis(context, requestTimeoutMs) {
    await reachable(context, 'Redis')
    const prefix = randomName()
    const again = () => openQueueBackend({ kind: 'redis', url: redisUrl, prefix, ...bound(requestTimeoutMs) })
    const backend = await again()
    context.onTestFinished(async () => {
      await backend.close()
      await removeKeys(prefix)
    })
    return { backend, again }
  },
}

export async function waiting({ jobs }: SubmissionQueue): Promise<QueuedTransaction[]> {
  return (await jobs.getJobs(['waiting'], 0, -1, true)).flatMap(({ data }) => data)
}

/** Skips the test if a service is missing, unless RATATOSK_REQUIRE_SERVICES requires it. */
export async function reachable(context: TestContext, service: Service): Promise<void> {
  const reason = await whyMissing(service)
  if (reason !== undefined) context.skip(reason)
}

function bound(requestTimeoutMs: number | undefined) {
  return requestTimeoutMs === undefined ? {} : { requestTimeoutMs }
}
