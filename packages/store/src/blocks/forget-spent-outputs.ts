import { type Connection, int8, nullable, schema, sql, statement } from '@ratatosk/database'

/** Accept sequences whose spent outputs one statement deletes. */
const step = 20_000n

// Up to the newest block that was merged before the given time and has no unmerged block below it.
const forgettable = statement(
  { first: nullable(int8), last: nullable(int8) },
  sql`SELECT
    (SELECT min(spent_by) FROM ${schema}.spent_outputs) AS first,
    (
      SELECT last_sequence FROM ${schema}.blocks
      WHERE state <> 'removed' AND state = 'merged' AND merged_at < $1::timestamptz AND height < COALESCE(
        (SELECT min(height) FROM ${schema}.blocks WHERE state NOT IN ('merged', 'removed')),
        9223372036854775807
      )
      ORDER BY height DESC LIMIT 1
    ) AS last`,
)

const forget = sql`DELETE FROM ${schema}.spent_outputs WHERE spent_by BETWEEN $1 AND $2`

/** Deletes the spent outputs of blocks that were merged before a time; see `Blocks.forgetSpent`. */
export async function forgetSpentOutputs(transaction: Connection, mergedBefore: Date): Promise<number> {
  const [span] = await transaction.query(forgettable, [mergedBefore.toISOString()])
  const { first, last } = span ?? { first: null, last: null }
  if (first === null || last === null) return 0
  let forgotten = 0
  for (let from = first; from <= last; from += step) {
    const to = from + step - 1n
    forgotten += await transaction.execute(forget, [from, to < last ? to : last])
  }
  return forgotten
}
