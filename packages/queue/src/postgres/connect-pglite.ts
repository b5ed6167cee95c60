import { runMigrations } from 'bullmq'
import type { Connector } from '../bull-connector.js'
import { QueueError } from '../errors.js'
import { quoteSchema } from './connect-postgres.js'
import { type PGliteInstance, PGlitePool } from './pglite-pool.js'
import { schemaBackend } from './schema-backend.js'
import { Turns } from './turns.js'
import { vacuum } from './vacuum.js'

const vacuumMs = 60_000

export interface PGliteConnectOptions {
  readonly pglite: PGliteInstance
  readonly schema: string
}

/** What BullMQ made in its schema and an unqualified name would not find, because something else has that name. */
const hidden = `
  SELECT relname AS name FROM pg_class
   WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S') AND NOT pg_table_is_visible(oid)
  UNION ALL
  SELECT proname FROM pg_proc WHERE pronamespace = $1::regnamespace AND NOT pg_function_is_visible(oid)
  ORDER BY name`

export async function connectPglite(options: PGliteConnectOptions): Promise<Connector> {
  const schema = quoteSchema(options.schema)
  const turns = new Turns()
  const pool = new PGlitePool(options.pglite, turns, false)
  // Somebody waits for the answer to a producer's query, and nobody for a worker's.
  const urgent = new PGlitePool(options.pglite, turns, true)
  const client = await pool.connect()
  await runMigrations(client, options.schema)
  await shareSearchPath(pool, schema)
  const cleaning = setInterval(() => {
    // It may have been closed meanwhile; the next start goes on.
    vacuum(pool, options.schema).catch(() => undefined)
  }, vacuumMs).unref()
  const end = async () => {
    clearInterval(cleaning)
    await Promise.all([pool.end(), urgent.end()])
  }
  return {
    producer: schemaBackend(urgent, options.schema),
    consumer: schemaBackend(pool, options.schema),
    async ping() {
      await urgent.query('SELECT 1')
    },
    // There is one process, and it knows what it would say.
    publish: async () => undefined,
    subscribe: async () => undefined,
    close: end,
    cut: end,
  }
}

/**
 * PGlite has one session, so one search path. The queue's schema is appended to it: whoever else uses the instance
 * finds the same tables as before, and BullMQ's unqualified names are found where nothing else has them.
 */
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
      `Other tables or functions hide those of the queue: ${names}`,
    )
  }
}
