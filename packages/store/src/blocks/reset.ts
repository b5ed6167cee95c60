import type { Connection } from '../drivers/connection.js'

/** Over a transaction that holds the ledger's lock. Rows are deleted, not truncated: nobody who reads waits for it. */
export async function reset(transaction: Connection, schema: string): Promise<void> {
  for (const table of [
    'block_transactions',
    'blocks',
    'mempool_transactions',
    'mempool_ledger',
    'spent_outputs',
    'address_history',
    'rejections',
    'genesis',
  ]) {
    await transaction.query(`DELETE FROM ${schema}.${table}`)
  }
}
