import { PGlite } from '@electric-sql/pglite'
import {
  databaseUrl,
  inDatabase,
  randomName,
  redisUrl,
  removeKeys,
  type Service,
  whyMissing,
} from '@ratatosk/test-services'
import { afterAll, type TestContext } from 'vitest'
import { openQueueBackend, type QueueBackend } from '../index.js'

export interface OpenedBackend {
  readonly backend: QueueBackend
  /** A second one on the same jobs, as another process would open it. */
  again(): Promise<QueueBackend>
}

/** Opens a backend of its own for a test and removes every trace of it afterwards. */
export type Opener = (context: TestContext, requestTimeoutMs?: number) => Promise<OpenedBackend>

/** One for a test file: making one takes a second. */
let shared: Promise<PGlite> | undefined
afterAll(async () => (await shared)?.close())

export const openers: Record<QueueBackend['kind'], Opener> = {
  async pglite(context) {
    shared ??= PGlite.create()
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

/** Skips the test where a service is not there, unless RATATOSK_REQUIRE_SERVICES says that it must be. */
export async function reachable(context: TestContext, service: Service): Promise<void> {
  const reason = await whyMissing(service)
  if (reason !== undefined) context.skip(reason)
}

function bound(requestTimeoutMs: number | undefined) {
  return requestTimeoutMs === undefined ? {} : { requestTimeoutMs }
}
