import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { openStore, type Store } from '@ratatosk/store'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, type TestContext } from 'vitest'
import { databaseUrl, redisUrl } from './addresses.js'

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
  try {
    await withDatabase('SELECT 1')
    await withRedis((redis) => redis.ping())
  } catch (error) {
    if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw error
    context.skip('PostgreSQL or Redis is not reachable; RATATOSK_REQUIRE_SERVICES=1 fails instead')
  }
}

export async function removeTraces(name: string): Promise<void> {
  await withDatabase(`DROP SCHEMA IF EXISTS ${name} CASCADE`)
  await withRedis(async (redis) => {
    for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1000 })) {
      if (keys.length > 0) await redis.del(keys)
    }
  })
}

export function randomName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

async function withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => undefined)
  await redis.connect()
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

export async function withDatabase(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
