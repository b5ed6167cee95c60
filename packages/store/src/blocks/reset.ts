import { advisoryLock, type Connection, schema, sql } from '@ratatosk/database'
import { forgetSpenders } from '../rejections/reopen-rejections.js'

const emptied = [
  'block_transactions',
  'blocks',
  'mempool_transactions',
  'mempool_ledger',
  'spent_outputs',
  'address_history',
  'resubmissions',
  'genesis',
  'dropped_transactions',
  'archived_blocks',
]

/**
 * Empties the tables under the ledger's lock. DELETE, unlike TRUNCATE, blocks no reader. Dead letters stay.
 */
export async function reset(transaction: Connection): Promise<void> {
  // So that nothing is archived on blocks that are gone.
  await advisoryLock(transaction, 'archive')
  for (const table of emptied) await transaction.execute(sql`DELETE FROM ${schema}.${table}`)
  await forgetSpenders(transaction)
  await transaction.execute(sql`INSERT INTO ${schema}.dropped_transactions DEFAULT VALUES`)
}
