import { int8, nullable, type Row, type SqlTransaction, schema, sql, statement } from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { blockAppender, type GrowingBlock } from '../ledger/append-batch.js'
import type { AcceptedTransaction } from '../ledger/types.js'
import { addRejections } from '../rejections/add-rejections.js'
import { headerColumns, heightAfter, makeRoom, moveFromMempool } from './append-block.js'
import type { Comparison } from './compare-mempool.js'
import { takeOut } from './drop-transactions.js'
import { blockList, blockRow, lastSequenceInBlocks, toBlock } from './read-blocks.js'
import { keepAcceptances, moveToBlock, reserveSequences, shiftMempool } from './renumber.js'
import type { Adopted, ForeignBlock } from './types.js'

/** Transactions of the block that one statement appends, and dead letters that one adds. */
const step = 1_000

const insert = statement(
  blockRow,
  sql`INSERT INTO ${schema}.blocks
    (state, height, header_hash, header, previous_header_hash, utxos_root, start_time, end_time,
      first_sequence, last_sequence, transactions, commit_transaction_id, commit_transaction,
      submitted_at, committed_at)
  VALUES ('committed', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    NULLIF($11::bytea, ''), NULLIF($12::bytea, ''), clock_timestamp(), clock_timestamp())
  RETURNING ${blockList}`,
)

// Before the mempool: what the newest block ends with, or the genesis.
const bounds = statement(
  { before: int8, newest: nullable(int8) },
  sql`SELECT
    COALESCE(
      ${lastSequenceInBlocks},
      (SELECT min(sequence) - 1 FROM ${schema}.mempool_transactions),
      (SELECT max(sequence) FROM ${schema}.mempool_ledger),
      0
    ) AS before,
    (SELECT max(sequence) FROM ${schema}.mempool_transactions) AS newest`,
)

const noteAfter = sql`
  INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
  SELECT sequence, transaction_id FROM ${schema}.mempool_transactions WHERE sequence > $1 ORDER BY sequence`

/** Accept sequences of a block: of an empty block, the last one before it, and the one after that. */
interface Span {
  readonly first: bigint
  readonly last: bigint
}

/**
 * Appends a block of another operator, or an own one that left; see `Blocks.adopt`. Accept sequences only
 * grow: after the common beginning, the block's transactions get greater ones, and the rest of the mempool
 * still greater ones. The event log keeps its own.
 */
export async function adoptBlock(
  transaction: SqlTransaction,
  block: ForeignBlock,
  comparison: Comparison,
): Promise<Adopted> {
  const height = await heightAfter(transaction, block.previousHeaderHash)
  const [own] = await transaction.query(makeRoom, [block.headerHash])
  const [bound] = await transaction.query(bounds)
  if (bound === undefined) throw new StoreError('STORE_FAILED', 'The ledger could not be read')
  await comparison.read(transaction)
  const { common, held, replaced, lost, rejections } = comparison
  const cut = common.at(-1) ?? bound.before
  const rest = BigInt(block.transactions.length - common.length)
  const insertBlock = async ({ first, last }: Span): Promise<Row<typeof blockRow>> => {
    const [row] = await transaction.query(insert, [
      height,
      ...headerColumns(block),
      first,
      last,
      block.transactions.length,
      own?.id ?? new Uint8Array(),
      own?.cbor ?? new Uint8Array(),
    ])
    if (row === undefined) throw new StoreError('STORE_FAILED', 'The block was not inserted')
    return row
  }

  if (rest === 0n) {
    const row = await insertBlock({ first: common[0] ?? cut + 1n, last: cut })
    if (common.length > 0) await moveFromMempool(transaction, row)
    return { block: toBlock(row), known: common.length, dropped: 0 }
  }
  const restoreAcceptances = await keepAcceptances(transaction, replaced)
  await takeOut(transaction, [...replaced, ...lost])
  const end = bound.newest ?? bound.before
  if (end > cut) await transaction.execute(noteAfter, [cut])
  const base = await reserveSequences(transaction, rest + end - cut)
  const row = await insertBlock({ first: common[0] ?? base + 1n, last: base + rest })
  if (common.length > 0)
    await moveFromMempool(transaction, { ...row, lastSequence: cut, transactions: common.length })
  const growing = { id: row.id, zero: base - BigInt(common.length), absent: [cut + 1n, end] } as const
  await moveToBlock(transaction, held, growing)
  await appendOthers(transaction, block, comparison, growing)
  await restoreAcceptances()
  await shiftMempool(transaction, growing.absent, base + rest - cut)
  for (let start = 0; start < rejections.length; start += step)
    await addRejections(transaction, rejections.slice(start, start + step))
  const known = common.length + held.length + replaced.length
  return { block: toBlock(row), known, dropped: lost.length }
}

/** Appends the transactions of the block that the mempool does not hold. */
async function appendOthers(
  transaction: SqlTransaction,
  { transactions }: ForeignBlock,
  { common, held }: Comparison,
  growing: GrowingBlock,
): Promise<void> {
  const moved = new Set(held.map(({ position }) => position))
  const others: AcceptedTransaction[] = []
  const positions: number[] = []
  for (let place = common.length; place < transactions.length; place++) {
    const each = transactions[place]
    if (each === undefined || moved.has(place)) continue
    others.push(each)
    positions.push(place + 1)
  }
  let appending: Promise<void> = Promise.resolve()
  for (let start = 0; start < others.length; start += step) {
    // The database appends those before meanwhile.
    const append = blockAppender(
      others.slice(start, start + step),
      positions.slice(start, start + step),
      growing,
    )
    await appending
    appending = append(transaction)
    // It is awaited later.
    appending.catch(() => undefined)
  }
  await appending
}
