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
async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
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

/** Dropped rather than emptied: rows that are gone still take time. */
const largestBytes = 16 * 2 ** 20

/** A schema with the tables of a store, which this process has made. */
interface Made {
  readonly name: string
  /** Of its tables, indexes and sequences. */
  readonly oids: readonly number[]
  /** A digest of their columns, constraints and triggers. */
  readonly shape: string
  /** Empties it, but for the rows that a new one has. */
  readonly emptying: string
}

/** Those in use or emptied, by their names. */
const made = new Map<string, Made>()
/** Those that a test can take: making one takes longer than most tests. */
const emptied: Made[] = []

/** A schema for a store: a new one, or one without rows. */
export const takeSchema = (): string => emptied.pop()?.name ?? randomName()

/** Opens a store in a schema that {@link takeSchema} gave. */
export async function openIn<Store>(
  schema: string,
  openStore: (place: { readonly url: string; readonly schema: string }) => Promise<Store>,
): Promise<Store> {
  const store = await openStore({ url: databaseUrl, schema })
  if (!made.has(schema))
    made.set(schema, await withDatabase(databaseUrl, (client) => readMade(client, schema)))
  return store
}

/**
 * Takes a schema back, whose stores are closed: the next test gets it without rows, or it is dropped.
 *
 * @param isShared whether another process may know it
 */
export async function giveBack(schema: string, isShared: boolean): Promise<void> {
  const known = made.get(schema)
  await withDatabase(databaseUrl, async (client) => {
    if (known !== undefined && !isShared && (await isReusable(client, known))) {
      await client.query(known.emptying)
      emptied.push(known)
    } else {
      made.delete(schema)
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    }
  })
}

/** Drops the schemas that a run has left. */
export async function dropSchemas(run: string): Promise<void> {
  await withDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1)',
      [`test_${run}`],
    )
    for (const { name } of rows) await client.query(`DROP SCHEMA "${name}" CASCADE`)
  })
}

const shapeOf = `SELECT md5(string_agg(part, ',' ORDER BY part)) AS shape FROM (
  SELECT concat_ws(' ', oid, relhastriggers, reloptions) AS part FROM pg_class WHERE oid = ANY ($1::oid[])
  UNION ALL SELECT concat_ws(' ', attrelid, attname, atttypid, attnotnull, attstorage)
    FROM pg_attribute WHERE attrelid = ANY ($1::oid[])
  UNION ALL SELECT concat_ws(' ', conrelid, conname, contype, convalidated)
    FROM pg_constraint WHERE conrelid = ANY ($1::oid[])
  UNION ALL SELECT concat_ws(' ', tgrelid, tgname, tgenabled)
    FROM pg_trigger WHERE tgrelid = ANY ($1::oid[]) AND NOT tgisinternal
) AS parts`

async function readMade(client: pg.Client, name: string): Promise<Made> {
  const { rows: parts } = await client.query<{ oid: number; name: string; kind: string }>(
    'SELECT oid, relname AS name, relkind AS kind FROM pg_class WHERE relnamespace = $1::regnamespace',
    [name],
  )
  const oids = parts.map(({ oid }) => oid)
  const { rows: shapes } = await client.query<{ shape: string }>(shapeOf, [oids])
  // Neither triggers nor foreign keys.
  const statements = ["BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL lock_timeout = '10s'"]
  for (const part of parts) {
    const place = `"${name}"."${part.name}"`
    if (part.kind === 'r') statements.push(`DELETE FROM ${place}`, ...(await insertion(client, place)))
    if (part.kind === 'S') {
      const { rows } = await client.query<{ set: string }>(
        `SELECT concat_ws(', ', last_value, is_called::text) AS set FROM ${place}`,
      )
      for (const { set } of rows) statements.push(`SELECT setval('${place}', ${set})`)
    }
  }
  statements.push('COMMIT')
  return { name, oids, shape: shapes[0]?.shape ?? '', emptying: statements.join(';\n') }
}

/** Inserts the rows that a table has now. */
async function insertion(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ all: unknown }>(
    `SELECT jsonb_agg(to_jsonb(row)) AS all FROM ${table} AS row`,
  )
  const all = rows[0]?.all
  if (!all) return []
  const json = client.escapeLiteral(JSON.stringify(all))
  return [
    `INSERT INTO ${table} OVERRIDING SYSTEM VALUE ` +
      `SELECT * FROM jsonb_populate_recordset(NULL::${table}, ${json})`,
  ]
}

/** Whether its tables are as they were made, small, and unused. */
async function isReusable(client: pg.Client, { oids, shape }: Made): Promise<boolean> {
  const { rows } = await client.query<{ shape: string; bytes: string; users: string }>(
    `SELECT shape,
      (SELECT sum(pg_relation_size(oid)) FROM unnest($1::oid[]) AS oid) AS bytes,
      (SELECT count(*) FROM pg_locks WHERE relation = ANY ($1::oid[]) AND pid <> pg_backend_pid()) AS users
    FROM (${shapeOf}) AS shapes`,
    [oids],
  )
  const [found] = rows
  return found?.shape === shape && Number(found.bytes) <= largestBytes && found.users === '0'
}
