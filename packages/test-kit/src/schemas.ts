import type pg from 'pg'
import { databaseUrl, randomName, withDatabase } from './services.js'

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
