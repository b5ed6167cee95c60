import { type Connection, type Row, schema, sql, statement } from '@ratatosk/database'
import { keepBodies } from '../bodies/bodies.js'
import { StoreError } from '../errors.js'
import { heightAfter, moveFromMempool } from './append-block.js'
import { blockList, blockRow, toBlock } from './read-blocks.js'
import { enter } from './set-block-state.js'
import type { Block } from './types.js'

const remove = statement(
  blockRow,
  sql`WITH removed AS (
    UPDATE ${schema}.blocks SET state = 'removed', removed_at = clock_timestamp()
    WHERE height >= $1 AND state NOT IN ('merged', 'removed')
    RETURNING *
  )
  SELECT ${blockList} FROM removed ORDER BY height`,
)

const moveToMempool = sql`
  WITH moved AS (
    DELETE FROM ${schema}.block_transactions WHERE block_id = $1
    RETURNING sequence, event_sequence, transaction_id, cbor, accepted_at
  )
  INSERT INTO ${schema}.mempool_transactions (sequence, event_sequence, transaction_id, cbor, accepted_at)
  SELECT sequence, event_sequence, transaction_id, cbor, accepted_at FROM moved ORDER BY sequence`

const removedBlock = statement(
  blockRow,
  sql`SELECT ${blockList} FROM ${schema}.blocks
  WHERE header_hash = $1 AND state = 'removed' AND commit_transaction IS NOT NULL`,
)

const restore = statement(
  blockRow,
  sql`UPDATE ${schema}.blocks SET ${enter('committed')} WHERE id = $1 RETURNING ${blockList}`,
)

/** Removes the unmerged blocks from a height on, with their rows. Their transactions stay where they are. */
export const removeFrom = (transaction: Connection, fromHeight: bigint): Promise<Row<typeof blockRow>[]> =>
  transaction.query(remove, [fromHeight])

/** Removes unmerged blocks and returns their transactions to the mempool; see `Blocks.returnToMempool`. */
export async function returnToMempool(transaction: Connection, fromHeight: bigint): Promise<Block[]> {
  const removed = await removeFrom(transaction, fromHeight)
  await keepBodies(transaction, removed)
  // One statement per block keeps each below the statement time-out.
  for (const { id } of removed) await transaction.execute(moveToMempool, [id])
  return removed.map(toBlock)
}

/** Restores a removed block that is on layer 1 after all; see `Blocks.revive`. */
export async function reviveBlock(transaction: Connection, headerHash: Uint8Array): Promise<Block> {
  const [removed] = await transaction.query(removedBlock, [headerHash])
  if (removed === undefined)
    throw new StoreError('STORE_CONFLICT', 'No removed block of this store has this header hash')
  await heightAfter(transaction, removed.previousHeaderHash)
  const [row] = await transaction.query(restore, [removed.id])
  if (row === undefined) throw new StoreError('STORE_FAILED', 'The block was not restored')
  await moveFromMempool(transaction, row)
  return toBlock(row)
}
