import { type Connection, int8, nullable, schema, sql, statement } from '@ratatosk/database'
import { toBlock } from './read-blocks.js'
import { removeFrom } from './remove-blocks.js'
import type { Undone } from './types.js'

/**
 * Transactions that one statement takes out of the mempool or out of the ledger: keeps each below the
 * statement time-out.
 */
const step = 5_000

const keepBlock = sql`
  WITH moved AS (
    DELETE FROM ${schema}.block_transactions WHERE block_id = $1 RETURNING sequence, transaction_id, cbor
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
    SELECT sequence, transaction_id FROM moved ORDER BY sequence
  )
  INSERT INTO ${schema}.resubmissions (sequence, transaction_id, cbor, header_hash, height)
  SELECT sequence, transaction_id, cbor, $2::bytea, $3::bigint FROM moved`

const keepMempool = sql`
  WITH oldest AS (
    SELECT sequence FROM ${schema}.mempool_transactions ORDER BY sequence LIMIT ${step}
  ), moved AS (
    DELETE FROM ${schema}.mempool_transactions AS mempool USING oldest
      WHERE mempool.sequence = oldest.sequence
    RETURNING mempool.sequence, mempool.transaction_id, mempool.cbor
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
    SELECT sequence, transaction_id FROM moved ORDER BY sequence
  )
  INSERT INTO ${schema}.resubmissions (sequence, transaction_id, cbor)
  SELECT sequence, transaction_id, cbor FROM moved`

const newestBetween = statement(
  { first: nullable(int8), last: nullable(int8) },
  sql`SELECT min(sequence) AS first, max(sequence) AS last FROM (
    SELECT sequence FROM ${schema}.resubmissions WHERE sequence BETWEEN $1 AND $2
    ORDER BY sequence DESC LIMIT ${step}
  ) AS newest`,
)

// The reverse of what `appendBatch` wrote. Every part sees the tables as they were before the statement: an
// output that one of these transactions made and another spent is in neither table afterwards.
const undoBetween = sql`
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

/**
 * Takes the ledger back to the state before a block, in a transaction that holds its lock; see `Blocks.undo`.
 */
export async function undoBlocks(transaction: Connection, fromHeight: bigint): Promise<Undone> {
  const removed = await removeFrom(transaction, fromHeight)
  const [lowest] = removed
  if (lowest === undefined) return { blocks: [], transactions: 0 }
  let transactions = 0
  for (const { id, headerHash, height } of removed)
    transactions += await transaction.execute(keepBlock, [id, headerHash, height])
  for (;;) {
    const moved = await transaction.execute(keepMempool, [])
    transactions += moved
    if (moved < step) break
  }
  // The newest first: what an older transaction made is restored before that transaction is undone.
  for (let to = maxSequence; ; ) {
    const [span] = await transaction.query(newestBetween, [lowest.firstSequence, to])
    if (span?.first == null || span.last === null) break
    await transaction.execute(undoBetween, [span.first, span.last])
    to = span.first - 1n
  }
  return { blocks: removed.map(toBlock), transactions }
}

/** PostgreSQL's greatest `bigint`. */
const maxSequence = 2n ** 63n - 1n
