import {
  type Connection,
  int8,
  nullable,
  type Row,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { keepBodies } from '../bodies/bodies.js'
import { StoreError } from '../errors.js'
import { enter, heightAfter, moveFromMempool, requireMempoolAfter } from './append-block.js'
import { creditDeposits, enterDeposits, releaseDeposits } from './deposits.js'
import { blockList, blockRow, toBlock } from './read-blocks.js'
import type { Block, CreditedDeposit } from './types.js'

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

/**
 * Removes unmerged blocks and returns their transactions to the mempool; see `Blocks.returnToMempool`.
 *
 * @param haveDeposits whether they have: then under the ledger's lock
 */
export async function returnToMempool(
  transaction: Connection,
  fromHeight: bigint,
  haveDeposits: boolean,
): Promise<Block[]> {
  const removed = await removeFrom(transaction, fromHeight)
  await keepBodies(transaction, removed)
  if (haveDeposits) await releaseDeposits(transaction, removed)
  // One statement per block keeps each below the statement time-out.
  for (const { id } of removed) await transaction.execute(moveToMempool, [id])
  return removed.map(toBlock)
}

/**
 * Restores a removed block that is on layer 1 after all; see `Blocks.revive`.
 *
 * @param credits under the ledger's lock, unless it has none
 */
export async function reviveBlock(
  transaction: SqlTransaction,
  headerHash: Uint8Array,
  credits: readonly CreditedDeposit[],
): Promise<Block> {
  const [removed] = await transaction.query(removedBlock, [headerHash])
  if (removed === undefined)
    throw new StoreError('STORE_CONFLICT', 'No removed block of this store has this header hash')
  await heightAfter(transaction, removed.previousHeaderHash)
  await enterDeposits(transaction, headerHash, credits, false)
  if (removed.transactions === 0) await requireMempoolAfter(transaction, removed.firstSequence)
  const [row] = await transaction.query(restore, [removed.id])
  if (row === undefined) throw new StoreError('STORE_FAILED', 'The block was not restored')
  await moveFromMempool(transaction, row)
  await creditDeposits(transaction, row)
  return toBlock(row)
}

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
