import type { Connection } from '../drivers/connection.js'

/**
 * What runs under these locks looks up rows by key, a few of many. Where a table has grown since it was last analysed, the
 * planner would rather read all of it; these leave it the look-up by index as the only way.
 */
const lookUpByIndex = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')

/**
 * Waits for a lock that ends with the transaction, whatever ends it.
 *
 * @param purpose what the lock guards, within `schema`
 */
export async function advisoryLock(
  connection: Connection,
  purpose: 'ledger' | 'blocks' | 'archive' | 'migrations',
  schema: string,
): Promise<void> {
  await connection.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), ${lookUpByIndex}`, [
    `ratatosk ${purpose} of ${schema}`,
  ])
}
