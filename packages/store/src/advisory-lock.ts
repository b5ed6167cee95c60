import type { Connection } from './drivers/connection.js'

/**
 * Waits for a lock that ends with the transaction, whatever ends it. Statements after it are planned each time anew: a
 * plan kept from when the ledger was empty would read all of it for every batch.
 *
 * @param purpose what the lock guards, within `schema`
 */
export async function advisoryLock(
  connection: Connection,
  purpose: 'ledger' | 'migrations',
  schema: string,
): Promise<void> {
  await connection.query(
    `SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), set_config('plan_cache_mode', 'force_custom_plan', true)`,
    [`ratatosk ${purpose} of ${schema}`],
  )
}
