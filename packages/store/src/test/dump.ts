import type { TestStore } from './backends.js'

const tables = [
  'mempool_transactions',
  'mempool_ledger',
  'deposits',
  'spent_outputs',
  'blocks',
  'block_transactions',
  'address_history',
  'resubmissions',
  'rejections',
  'genesis',
] as const

/** Every row of the tables that blocks change, to see that nothing has changed. */
export async function dump({ database, schema }: TestStore): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    const rows = await database.query<{ row: string }>(
      `SELECT to_json(t)::text AS row FROM ${schema}.${table} AS t ORDER BY 1`,
    )
    found[table] = rows.map(({ row }) => row)
  }
  return found
}
