import { Mutex } from 'async-mutex'
import { runMigrations } from 'bullmq'
import { QueueError } from '../errors.js'
import type { Connector } from './bull-backend.js'
import { type PGliteInstance, PGlitePool } from './pglite-pool.js'
import { quoteSchema, schemaBackend, storeUncompressed } from './schema-backend.js'

const vacuumMs = 60_000

/** Dead rows, about 600 bytes each, that a table may hold before it is vacuumed. */
const deadRows = 10_000

/** Callers wait for producers' queries, but not for those of workers. */
const priority = { producer: 1, consumer: 0 } as const

interface PGliteConnectOptions {
  readonly pglite: PGliteInstance
  readonly schema: string
}

/** Names of BullMQ's tables, sequences and functions that other schemas on the search path hide. */
const hidden = `
  SELECT relname AS name FROM pg_class
   WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S') AND NOT pg_table_is_visible(oid)
  UNION ALL
  SELECT proname FROM pg_proc WHERE pronamespace = $1::regnamespace AND NOT pg_function_is_visible(oid)
  ORDER BY name`

export async function connectPglite(options: PGliteConnectOptions): Promise<Connector> {
  const schema = quoteSchema(options.schema)
  const mutex = new Mutex()
  const consumers = new PGlitePool(options.pglite, mutex, priority.consumer)
  const producers = new PGlitePool(options.pglite, mutex, priority.producer)
  const client = await consumers.connect()
  await runMigrations(client, options.schema)
  await storeUncompressed(client, options.schema)
  await shareSearchPath(consumers, schema)
  const vacuuming = setInterval(() => {
    // Fails if PGlite was closed in the meantime; the next start continues.
    vacuum(consumers, options.schema).catch(() => undefined)
  }, vacuumMs).unref()
  const end = async () => {
    clearInterval(vacuuming)
    await Promise.all([consumers.end(), producers.end()])
  }
  return {
    producer: schemaBackend(producers, options.schema),
    consumer: schemaBackend(consumers, options.schema),
    async ping() {
      await producers.query('SELECT 1')
    },
    // PGlite has one process: no other process can be notified.
    publish: async () => undefined,
    subscribe: async () => undefined,
    close: end,
    cut: end,
  }
}

/** Appends the queue's schema to PGlite's one search path: other users find the same tables as before. */
async function shareSearchPath(pool: PGlitePool, schema: string): Promise<void> {
  await pool.query(
    `SELECT set_config('search_path', current_setting('search_path') || ', ' || $1, false)
      WHERE NOT $1 = ANY (string_to_array(current_setting('search_path'), ', '))`,
    [schema],
  )
  const { rows } = await pool.query<{ name: string }>(hidden, [schema])
  if (rows.length > 0) {
    const names = rows.map(({ name }) => name).join(', ')
    throw new QueueError(
      'QUEUE_SCHEMA_CONFLICT',
      `Names of another schema hide those of the queue: ${names}. Rename them, or use a separate PGlite`,
    )
  }
}

/** PGlite has no autovacuum: without this, tables through which jobs pass would grow without bound. */
export async function vacuum(pool: PGlitePool, schema: string, threshold = deadRows): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relid::regclass::text AS name FROM pg_stat_user_tables WHERE schemaname = $1 AND n_dead_tup > $2`,
    [schema, threshold],
  )
  for (const { name } of rows) await pool.query(`VACUUM ${name}`)
}
