import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'

/** The PostgreSQL server of the tests. */
export const databaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
/** The Redis server of the tests. */
export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** A service that tests may need. */
export type Service = 'PostgreSQL' | 'Redis'

const asks: Readonly<Record<Service, () => Promise<unknown>>> = {
  PostgreSQL: () => inDatabase('SELECT 1'),
  Redis: () => withRedis((redis) => redis.ping()),
}

/** Those that have responded once. */
const found = new Set<Service>()

/**
 * Why tests that need these services must be skipped; undefined if all of them respond.
 *
 * @throws if one does not respond and RATATOSK_REQUIRE_SERVICES=1 requires it
 */
export async function whyMissing(...services: readonly Service[]): Promise<string | undefined> {
  for (const service of services) {
    if (found.has(service)) continue
    try {
      await asks[service]()
      found.add(service)
    } catch (error) {
      if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw error
      return `${service} is not reachable; RATATOSK_REQUIRE_SERVICES=1 makes this a failure`
    }
  }
  return undefined
}

/** A unique name for a schema or a prefix. The end of a run of vitest drops the schemas that it has left. */
export function randomName(): string {
  return `test_${process.env.RATATOSK_TEST_RUN ?? ''}${randomBytes(8).toString('hex')}`
}

/** Runs one or more SQL statements on its own connection. */
export async function inDatabase(sql: string, url = databaseUrl): Promise<void> {
  await withDatabase(url, (client) => client.query(sql))
}

/** A digest of every row of each table of a schema, by table: equal if nothing has changed. */
export async function schemaDigest(
  schema: string,
  url = databaseUrl,
): Promise<Readonly<Record<string, string>>> {
  return withDatabase(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${schema}' ORDER BY 1`,
    )
    const digests: Record<string, string> = {}
    for (const { name } of tables) {
      const { rows } = await client.query<{ digest: string }>(
        `SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) AS digest FROM ` +
          `${schema}."${name}" AS t`,
      )
      digests[name] = rows[0]?.digest ?? ''
    }
    return digests
  })
}

/** Runs `work` with its own connection to a database. */
export async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 30_000,
    // Otherwise PostgreSQL compiles a query of the catalogue and starts processes for it: 300 ms, not 12.
    options: '-c jit=off -c max_parallel_workers_per_gather=0',
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Removes every key with a queue's prefix. */
export async function removeKeys(prefix: string): Promise<void> {
  await withRedis(async (redis) => {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1000 })) {
      if (keys.length > 0) await redis.del(keys)
    }
  })
}

/** Runs `work` with its own connection to Redis. */
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
