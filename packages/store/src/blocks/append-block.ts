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
import { StoreError } from '../errors.js'
import { creditDeposits, enterDeposits } from './deposits.js'
import { blockList, blockRow, endOfBlocks, newestBlock, toBlock } from './read-blocks.js'
import type { Block, BlockHeader, Layer1Transaction, NewBlock } from './types.js'

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
export async function requireMempoolAfter(transaction: Connection, sequence?: bigint): Promise<void> {
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
export function enter(state: KeptState): string {
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
