import { PGlite } from '@electric-sql/pglite'
import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { openStore, type Store } from '@ratatosk/store'
import {
  databaseUrl,
  inDatabase,
  randomName,
  redisUrl,
  removeKeys,
  whyMissing,
} from '@ratatosk/test-services'
import { afterAll, type TestContext } from 'vitest'

export interface Services {
  readonly store: Store
  readonly queue: QueueBackend
  /** Schema of the store and prefix of the queue, where another process can open the same. */
  readonly name: string
}

/** Opens a store and a queue of a test's own and removes every trace of them afterwards. */
export type Opener = (context: TestContext) => Promise<Services>

/** One for a test file: making one takes a second. */
let shared: Promise<PGlite> | undefined
afterAll(async () => (await shared)?.close())

export const openers = {
  PGlite: async (context) => {
    shared ??= PGlite.create()
    const pglite = await shared
    const name = randomName()
    const store = await openStore({ pglite, schema: name })
    const queue = await openQueueBackend({ kind: 'pglite', pglite })
    context.onTestFinished(async () => {
      await queue.close()
      await store.close()
      await pglite.exec(`DROP SCHEMA ${name} CASCADE; DROP SCHEMA ratatosk_queue CASCADE`)
    })
    return { store, queue, name }
  },
  'PostgreSQL and Redis': async (context) => {
    await needServices(context)
    const name = randomName()
    const store = await openStore({ url: databaseUrl, schema: name })
    const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
    context.onTestFinished(async () => {
      await queue.close()
      await store.close()
      await removeTraces(name)
    })
    return { store, queue, name }
  },
} satisfies Record<string, Opener>

/** Skips the test where a service is not there, unless RATATOSK_REQUIRE_SERVICES says that it must be. */
export async function needServices(context: TestContext): Promise<void> {
  const reason = await whyMissing('PostgreSQL', 'Redis')
  if (reason !== undefined) context.skip(reason)
}

export async function removeTraces(name: string): Promise<void> {
  await inDatabase(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
  await removeKeys(name)
}
