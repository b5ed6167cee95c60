import type { TestStore } from './backends.js'

/** How many rows have an accept sequence that is not their transaction's. */
export async function countStrays({ database, schema }: TestStore): Promise<number> {
  const [strays] = await database.query<{ count: number }>(
    `WITH accepted AS (
      SELECT sequence, transaction_id FROM ${schema}.mempool_transactions
      UNION ALL SELECT sequence, transaction_id FROM ${schema}.block_transactions
    ), made AS (
      SELECT sequence, transaction_id FROM ${schema}.mempool_ledger
      UNION ALL SELECT sequence, transaction_id FROM ${schema}.spent_outputs
    )
    SELECT (
      SELECT count(*) FROM made JOIN accepted USING (transaction_id) WHERE made.sequence <> accepted.sequence
    )::integer + (
      SELECT count(*) FROM ${schema}.spent_outputs
      WHERE spent_by NOT IN (SELECT sequence FROM accepted)
    )::integer + (
      SELECT count(*) FROM ${schema}.address_history
      WHERE sequence NOT IN (SELECT sequence FROM accepted)
    )::integer AS count`,
  )
  return strays?.count ?? Number.NaN
}
