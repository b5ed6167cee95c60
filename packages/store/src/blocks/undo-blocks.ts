import { type Connection, schema, sql } from '@ratatosk/database'
import { keepBodies } from '../bodies/bodies.js'
import { toBlock } from './read-blocks.js'
import { removeFrom } from './remove-blocks.js'
import type { Undone } from './types.js'
import { undoEffects } from './undo-effects.js'

/** Transactions that one statement takes out of the mempool: keeps each below the statement time-out. */
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

/** Reverts the ledger to before a block, under its lock; see `Blocks.undo`. */
export async function undoBlocks(transaction: Connection, fromHeight: bigint): Promise<Undone> {
  const removed = await removeFrom(transaction, fromHeight)
  const [lowest] = removed
  if (lowest === undefined) return { blocks: [], transactions: 0 }
  await keepBodies(transaction, removed)
  let transactions = 0
  for (const { id, headerHash, height } of removed)
    transactions += await transaction.execute(keepBlock, [id, headerHash, height])
  for (;;) {
    const moved = await transaction.execute(keepMempool, [])
    transactions += moved
    if (moved < step) break
  }
  await undoEffects(transaction, lowest.firstSequence)
  return { blocks: removed.map(toBlock), transactions }
}
