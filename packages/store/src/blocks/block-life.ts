import {
  bool,
  bytesColumn,
  type Connection,
  int4,
  int8,
  nullable,
  parameterRows,
  type Row,
  type SqlTransaction,
  schema,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import type { BlockState } from '@ratatosk/ports'
import { keepBodies } from '../bodies/bodies.js'
import { StoreError } from '../errors.js'
import { creditDeposits, enterDeposits, releaseDeposits } from './deposits.js'
import { blockList, blockRow, endOfBlocks, newestBlock, toBlock } from './read-blocks.js'
import type { Block, BlockHeader, CreditedDeposit, Layer1Transaction, NewBlock } from './types.js'

/** The previous header hash of the first block. */
const noHeaderHash = new Uint8Array(28)

/** Deletes a removed block, so that one with the same header hash can take its place. */
export const makeRoom = statement(
  { id: blockRow.commitTransactionId, cbor: blockRow.commitTransaction },
  sql`DELETE FROM ${schema}.blocks WHERE header_hash = $1 AND state = 'removed'
  RETURNING commit_transaction_id AS id, commit_transaction AS cbor`,
)

const insert = statement(
  blockRow,
  sql`INSERT INTO ${schema}.blocks
    (state, height, header_hash, header, previous_header_hash, utxos_root, start_time, end_time,
      first_sequence,
      last_sequence, transactions, commit_transaction_id, commit_transaction)
  VALUES ('built', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  RETURNING ${blockList}`,
)

// One statement deletes and inserts, so a reader of both tables finds each transaction in exactly one of
// them. Transactions that earlier blocks took are skipped, although the table has them until it is vacuumed.
const moveOldestIntoBlock = statement(
  { count: int4, first: nullable(int8), last: nullable(int8) },
  sql`WITH moved AS (
    DELETE FROM ${schema}.mempool_transactions
    WHERE sequence > COALESCE((SELECT last_sequence FROM ${schema}.blocks WHERE state <> 'removed'
      AND height = $3), 0)
      AND sequence <= $2
    RETURNING sequence, event_sequence, transaction_id, cbor, accepted_at
  ), placed AS (
    INSERT INTO ${schema}.block_transactions
      (block_id, position, sequence, event_sequence, transaction_id, cbor, accepted_at)
    SELECT $1::bigint, row_number() OVER (ORDER BY sequence), sequence, event_sequence, transaction_id, cbor,
      accepted_at FROM moved
  )
  SELECT count(*)::integer AS count, min(sequence) AS first, max(sequence) AS last FROM moved`,
)

/**
 * Appends a block and moves the mempool's oldest transactions into it; see `Blocks.build`. Only deposits
 * change the ledger: they come last, so that validation does not wait while the transactions move.
 *
 * @param lockLedger takes the ledger's lock to the end
 */
export async function appendBlock(
  transaction: SqlTransaction,
  block: NewBlock,
  lockLedger: () => Promise<void>,
): Promise<Block> {
  const { headerHash, deposits = [], transactions } = block
  if (!Number.isSafeInteger(transactions) || transactions < 0 || transactions + deposits.length < 1)
    throw new StoreError('STORE_INVALID_ARGUMENT', 'A block must have at least one transaction or deposit')
  const height = await heightAfter(transaction, block.previousHeaderHash)
  const credit = async (): Promise<bigint | undefined> => {
    if (deposits.length > 0) await lockLedger()
    const { waiting, newest } = await enterDeposits(transaction, headerHash, deposits, transactions === 0)
    if (waiting > 0) throw new StoreError('STORE_CONFLICT', 'The block lacks a deposit that waits')
    return newest
  }
  // A block without transactions has the sequence of its last deposit.
  const own = transactions === 0 ? await credit() : undefined
  if (transactions === 0) await requireMempoolAfter(transaction, own)
  const { firstSequence, lastSequence } =
    own === undefined ? block : { firstSequence: own, lastSequence: own }
  await transaction.query(makeRoom, [headerHash])
  const [row] = await transaction.query(insert, [
    height,
    ...headerColumns(block),
    firstSequence,
    lastSequence,
    transactions,
    block.commitTransaction.id,
    block.commitTransaction.cbor,
  ])
  if (row === undefined) throw new StoreError('STORE_FAILED', 'The block was not inserted')
  await moveFromMempool(transaction, row)
  if (transactions > 0) await credit()
  await creditDeposits(transaction, row)
  return toBlock(row)
}

/** The columns of `blocks` from `header_hash` to `end_time`. */
export const headerColumns = (block: BlockHeader) =>
  [
    block.headerHash,
    block.header,
    block.previousHeaderHash,
    block.utxosRoot,
    block.startTime,
    block.endTime,
  ] as const

/** The height after this header hash. @throws StoreError `STORE_CONFLICT` if it is not the newest */
export async function heightAfter(transaction: Connection, previousHeaderHash: Uint8Array): Promise<bigint> {
  const [newest] = await transaction.query(newestBlock)
  if (Buffer.compare(previousHeaderHash, newest?.headerHash ?? noHeaderHash) !== 0) {
    throw new StoreError(
      'STORE_CONFLICT',
      'The block does not follow the newest block: read the newest block again',
    )
  }
  return (newest?.height ?? 0n) + 1n
}

const follows = statement(
  { follows: bool },
  sql`SELECT $1::bigint > ${endOfBlocks} AND NOT EXISTS (
    SELECT FROM ${schema}.mempool_transactions WHERE sequence > ${endOfBlocks} AND sequence <= $1
  ) AS follows`,
)

/**
 * For a block without transactions, whose place in the order of acceptance is a sequence of its own.
 *
 * @throws StoreError `STORE_CONFLICT` if that does not come after all blocks and before the mempool
 */
async function requireMempoolAfter(transaction: Connection, sequence?: bigint): Promise<void> {
  const [row] = await transaction.query(follows, [sequence ?? 0n])
  if (row?.follows !== true)
    throw new StoreError('STORE_CONFLICT', 'The mempool has transactions that the block lacks')
}

/** @throws StoreError `STORE_CONFLICT` if the block's transactions are not the oldest of the mempool */
export async function moveFromMempool(
  transaction: Connection,
  { id, height, firstSequence, lastSequence, transactions }: Row<typeof blockRow>,
): Promise<void> {
  if (transactions === 0) return
  const [moved] = await transaction.query(moveOldestIntoBlock, [id, lastSequence, height - 1n])
  if (moved?.count !== transactions || moved.first !== firstSequence || moved.last !== lastSequence) {
    throw new StoreError('STORE_CONFLICT', "The block's transactions are not the oldest of the mempool")
  }
}

type KeptState = Exclude<BlockState, 'removed'>

/** The column with the time at which a block first entered a state. `built_at` is always set. */
const timeOf = [
  ['submitted', 'submitted_at'],
  ['committed', 'committed_at'],
  ['mature', 'matured_at'],
  ['merged', 'merged_at'],
] as const

/** Assignments that set a state and its time, and clear the times of later states. */
function enter(state: KeptState): string {
  const own = timeOf.findIndex(([of]) => of === state)
  const times = timeOf.flatMap(([, column], position) => {
    if (position < own) return []
    return [position === own ? `${column} = COALESCE(${column}, clock_timestamp())` : `${column} = NULL`]
  })
  return [`state = '${state}'`, ...times, 'removed_at = NULL'].join(', ')
}

const setState = (state: KeptState) => sql`
  UPDATE ${schema}.blocks AS block SET ${enter(state)}
  FROM ${parameterRows({ header_hash: 'bytea' })} AS given
  WHERE block.header_hash = given.header_hash AND block.state <> 'removed'`

const setStates = {
  built: setState('built'),
  submitted: setState('submitted'),
  committed: setState('committed'),
  mature: setState('mature'),
  merged: setState('merged'),
}

const setMerge = sql`
  UPDATE ${schema}.blocks SET merge_transaction_id = $2, merge_transaction = $3
  WHERE header_hash = $1 AND state <> 'removed'`

/** Sets the state of all given blocks; see `Blocks.setState`. */
export async function setBlockState(
  transaction: Connection,
  headerHashes: readonly Uint8Array[],
  state: KeptState,
): Promise<void> {
  if (headerHashes.length === 0) return
  const changed = await transaction.execute(setStates[state], [bytesColumn(headerHashes)])
  if (changed !== new Set(headerHashes.map(toHex)).size) throw unknownBlock()
}

/** Stores the transaction that merges a block; see `Blocks.setMergeTransaction`. */
export async function setMergeTransaction(
  transaction: Connection,
  headerHash: Uint8Array,
  { id, cbor }: Layer1Transaction,
): Promise<void> {
  const changed = await transaction.execute(setMerge, [headerHash, id, cbor])
  if (changed === 0) throw unknownBlock()
}

function unknownBlock(): StoreError {
  return new StoreError('STORE_CONFLICT', 'A block is unknown or removed')
}

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
