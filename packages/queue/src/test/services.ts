import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, type TestContext } from 'vitest'
import { openQueueBackend, type QueueBackend } from '../index.js'

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

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
    await reachable(context, 'PostgreSQL', withDatabase.bind(undefined, 'SELECT 1'))
    const schema = randomName()
    const again = () =>
      openQueueBackend({ kind: 'postgres', url: databaseUrl, schema, ...bound(requestTimeoutMs) })
    const backend = await again()
    context.onTestFinished(async () => {
      await backend.close()
      await withDatabase(`DROP SCHEMA ${schema} CASCADE`)
    })
    return { backend, again }
  },
  async redis(context, requestTimeoutMs) {
    await reachable(context, 'Redis', () => withRedis((redis) => redis.ping()))
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
export async function reachable(
  context: TestContext,
  service: string,
  ask: () => Promise<unknown>,
): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw error
    context.skip(`${service} is not reachable; set RATATOSK_REQUIRE_SERVICES=1 to fail instead`)
  }
}

export function randomName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

export async function removeKeys(prefix: string): Promise<void> {
  await withRedis(async (redis) => {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1000 })) {
      if (keys.length > 0) await redis.del(keys)
    }
  })
}

export async function withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => undefined)
  await redis.connect()
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

async function withDatabase(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function bound(requestTimeoutMs: number | undefined) {
  return requestTimeoutMs === undefined ? {} : { requestTimeoutMs }
}
