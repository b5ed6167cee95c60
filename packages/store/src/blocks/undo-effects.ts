import { type Connection, int8, nullable, schema, sql, statement } from '@ratatosk/database'

/** Transactions that one statement undoes: keeps each below the statement time-out. */
const step = 5_000

/** PostgreSQL's greatest `bigint`. */
const maxSequence = 2n ** 63n - 1n

/** The span of the newest transactions of a table between two sequences, as many as one statement takes. */
export const newestBetween = (table: string) =>
  statement(
    { first: nullable(int8), last: nullable(int8) },
    sql`SELECT min(sequence) AS first, max(sequence) AS last FROM (
      SELECT sequence FROM ${schema}.${table} WHERE sequence BETWEEN $1 AND $2
      ORDER BY sequence DESC LIMIT ${step}
    ) AS newest`,
  )

// The reverse of what `appendBatch` wrote. Every part sees the tables as they were before the statement: an
// output that one of these transactions made and another spent is in neither table afterwards.
const undo = sql`
  WITH undone AS (
    SELECT sequence, transaction_id FROM ${schema}.resubmissions WHERE sequence BETWEEN $1 AND $2
  ), made AS (
    DELETE FROM ${schema}.mempool_ledger AS ledger USING undone
    WHERE ledger.transaction_id = undone.transaction_id AND ledger.sequence = undone.sequence
    RETURNING ledger.address, ledger.sequence
  ), freed AS (
    DELETE FROM ${schema}.spent_outputs AS spent WHERE spent.spent_by BETWEEN $1 AND $2
    RETURNING spent.*
  ), restored AS (
    INSERT INTO ${schema}.mempool_ledger
      (transaction_id, output_index, output, address, sequence)
    SELECT transaction_id, output_index, output, address, sequence
    FROM freed WHERE sequence < $1
  )
  DELETE FROM ${schema}.address_history AS history
  USING (
    SELECT address, sequence FROM made
    UNION SELECT address, sequence FROM freed WHERE sequence >= $1
    UNION SELECT address, spent_by FROM freed
  ) AS touched (address, sequence)
  WHERE history.address = touched.address AND history.sequence = touched.sequence`

const newest = newestBetween('resubmissions')

/** Reverts the effects from a sequence on, under the ledger's lock. Resubmissions hold the transactions. */
export async function undoEffects(transaction: Connection, from: bigint): Promise<void> {
  // The newest first: what an older transaction made is restored before that transaction is undone.
  for (let to = maxSequence; ; ) {
    const [span] = await transaction.query(newest, [from, to])
    if (span?.first == null || span.last === null) return
    await transaction.execute(undo, [span.first, span.last])
    to = span.first - 1n
  }
}
