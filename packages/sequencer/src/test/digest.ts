import { createHash } from 'node:crypto'
import type { Store } from '@ratatosk/store'

const tables = [
  'mempool_transactions',
  'mempool_ledger',
  'spent_outputs',
  'address_history',
  'block_transactions',
]

/** A hash of every row of the ledger's tables. */
export async function ledgerDigest({ database }: Pick<Store, 'database'>, schema: string): Promise<string> {
  const hash = createHash('sha256')
  for (const table of tables) {
    const text = `SELECT to_json(t)::text AS row FROM ${schema}.${table} AS t ORDER BY 1`
    const { rows } = await database.run(text, [])
    for (const { row } of rows as readonly { row: string }[]) hash.update(`${table} ${row}\n`)
  }
  return hash.digest('hex')
}
