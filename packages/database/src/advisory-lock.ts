import type { Connection } from './connection.js'
import { sql } from './sql.js'

const settings = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')

/**
 * For transactions that look up a few rows by key. When a table has grown since it was last analysed, the
 * planner would scan all of it; these settings leave index look-ups as the only plan. Where no index exists,
 * the scan counts as so costly that PostgreSQL would compile the statement first, which takes a second.
 */
export async function lookUpByIndex(connection: Connection): Promise<void> {
  await connection.execute(sql`SELECT ${settings}`)
}

/**
 * Waits for a lock that the transaction holds until it ends, and sets what {@link lookUpByIndex} does.
 *
 * @param purpose what the lock guards within the connection's schema
 */
export async function advisoryLock(connection: Connection, purpose: string): Promise<void> {
  await connection.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), ${settings}`, [
    `ratatosk ${purpose} of ${connection.schema}`,
  ])
}
