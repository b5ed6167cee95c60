import type { PGlitePool } from './pglite-pool.js'

/** Rows of finished jobs and old events that may lie about, at some 600 bytes each, before their space is used again. */
const deadRows = 10_000

/** PGlite has no autovacuum, so tables through which jobs only pass would grow for ever. */
export async function vacuum(pool: PGlitePool, schema: string, threshold = deadRows): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relid::regclass::text AS name FROM pg_stat_user_tables WHERE schemaname = $1 AND n_dead_tup > $2`,
    [schema, threshold],
  )
  for (const { name } of rows) await pool.query(`VACUUM ${name}`)
}
