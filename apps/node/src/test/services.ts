import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'

export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/**
 * Why tests on PostgreSQL and Redis must be skipped; false where both answer.
 *
 * @throws where one does not although RATATOSK_REQUIRE_SERVICES=1 says that it must
 */
export async function servicesMissing(): Promise<string | false> {
  try {
    await Promise.all([inDatabase('SELECT 1'), withRedis((redis) => redis.ping())])
    return false
  } catch (error) {
    if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw error
    return 'PostgreSQL or Redis is not reachable; RATATOSK_REQUIRE_SERVICES=1 makes this a failure'
  }
}

/** A name for a schema or a prefix that no other test has. */
export function randomName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

export async function dropSchemas(name: string): Promise<void> {
  const schemas = [name, `${name}_queue`, `${name}_devnet`]
  await inDatabase(schemas.map((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`).join(';'))
}

export async function removeKeys(prefix: string): Promise<void> {
  await withRedis(async (redis) => {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1000 })) {
      if (keys.length > 0) await redis.del(keys)
    }
  })
}

async function inDatabase(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
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
