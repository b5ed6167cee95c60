import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

export type Service = 'PostgreSQL' | 'Redis'

const asks: Readonly<Record<Service, () => Promise<unknown>>> = {
  PostgreSQL: () => inDatabase('SELECT 1'),
  Redis: () => withRedis((redis) => redis.ping()),
}

/**
 * Why tests that need these services must be skipped; undefined where all of them answer.
 *
 * @throws where one does not although RATATOSK_REQUIRE_SERVICES=1 says that it must
 */
export async function whyMissing(...services: readonly Service[]): Promise<string | undefined> {
  for (const service of services) {
    try {
      await asks[service]()
    } catch (error) {
      if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw error
      return `${service} is not reachable; RATATOSK_REQUIRE_SERVICES=1 makes this a failure`
    }
  }
  return undefined
}

/** A name for a schema or a prefix that no other test has. */
export function randomName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

/** Runs SQL, several statements if need be, over a connection of its own. */
export async function inDatabase(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Removes every key under a queue's prefix. */
export async function removeKeys(prefix: string): Promise<void> {
  await withRedis(async (redis) => {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1000 })) {
      if (keys.length > 0) await redis.del(keys)
    }
  })
}

/** Works over a connection of its own. */
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
