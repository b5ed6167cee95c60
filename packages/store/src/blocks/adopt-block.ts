import {
  bytesColumn,
  type Connection,
  int4,
  int8,
  nullable,
  parameterRows,
  type Row,
  type Sql,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { type AppliedTransaction, blockAppender, type GrowingBlock } from '../ledger/ledger.js'
import { addRejections } from '../rejections/write-rejections.js'
import { mempoolTransactions } from '../schema/tables.js'
import { headerColumns, heightAfter, makeRoom, moveFromMempool, newestBetween } from './block-life.js'
import { creditDeposits, enterDeposits, requireCredited } from './deposits.js'
import { type Comparison, type HeldTransaction, takeOut } from './mempool.js'
import { blockList, blockRow, lastSequenceInBlocks, toBlock } from './read-blocks.js'
import type { Adopted, Block, ForeignBlock } from './types.js'

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
      (SELECT GREATEST(max(sequence), 0) FROM ${schema}.mempool_ledger),
      0
    ) AS before,
    (SELECT max(sequence) FROM ${schema}.mempool_transactions) AS newest`,
)

const noteAfter = sql`
  INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
  SELECT sequence, transaction_id FROM ${schema}.mempool_transactions WHERE sequence > $1 ORDER BY sequence`

/**
 * Accept sequences of a block: of an empty block, the last one before it, and the one after that. One with
 * deposits and without transactions has a sequence of its own.
 */
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
  const { headerHash, deposits = [], transactions } = block
  const height = await heightAfter(transaction, block.previousHeaderHash)
  const [own] = await transaction.query(makeRoom, [headerHash])
  const [bound] = await transaction.query(bounds)
  if (bound === undefined) throw new StoreError('STORE_FAILED', 'The ledger could not be read')
  await comparison.read(transaction)
  const { newest } = await enterDeposits(transaction, headerHash, deposits, transactions.length === 0)
  const { common, held, replaced, lost, rejections } = comparison
  const cut = common.at(-1) ?? bound.before
  const rest = BigInt(transactions.length - common.length)
  const insertBlock = async ({ first, last }: Span): Promise<Row<typeof blockRow>> => {
    const [row] = await transaction.query(insert, [
      height,
      ...headerColumns(block),
      first,
      last,
      transactions.length,
      own?.id ?? new Uint8Array(),
      own?.cbor ?? new Uint8Array(),
    ])
    if (row === undefined) throw new StoreError('STORE_FAILED', 'The block was not inserted')
    return row
  }

  const finish = async (row: Row<typeof blockRow>): Promise<Block> => {
    await creditDeposits(transaction, row)
    await requireCredited(transaction, row.lastSequence)
    return toBlock(row)
  }

  const isBare = transactions.length === 0 && newest !== undefined
  if (rest === 0n && !isBare) {
    const row = await insertBlock({ first: common[0] ?? cut + 1n, last: cut })
    if (common.length > 0) await moveFromMempool(transaction, row)
    return { block: await finish(row), known: common.length, dropped: 0 }
  }
  const restoreAcceptances = await keepAcceptances(transaction, replaced)
  await takeOut(transaction, [...replaced, ...lost])
  const end = bound.newest ?? bound.before
  if (end > cut) await transaction.execute(noteAfter, [cut])
  const base = await reserveSequences(transaction, rest + end - cut)
  const span = isBare ? { first: newest, last: newest } : { first: common[0] ?? base + 1n, last: base + rest }
  const row = await insertBlock(span)
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
  return { block: await finish(row), known, dropped: lost.length }
}

/** Appends the transactions of the block that the mempool does not hold. */
async function appendOthers(
  transaction: SqlTransaction,
  { transactions }: ForeignBlock,
  { common, held }: Comparison,
  growing: GrowingBlock,
): Promise<void> {
  const moved = new Set(held.map(({ position }) => position))
  const others: AppliedTransaction[] = []
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

const reserve = statement(
  { base: int8 },
  sql`SELECT setval(sequence, nextval(sequence) + $1::bigint - 1) - $1::bigint AS base
  FROM CAST('${schema}.accept_sequence' AS regclass) AS sequence`,
)

/** Takes sequences that are greater than all before. @returns the one before the first of them */
async function reserveSequences(transaction: Connection, count: bigint): Promise<bigint> {
  const [row] = await transaction.query(reserve, [count])
  if (row === undefined) throw new StoreError('STORE_FAILED', 'No accept sequences could be reserved')
  return row.base
}

const place = statement(
  { placed: int4 },
  sql`WITH moved AS (
    DELETE FROM ${schema}.mempool_transactions AS mempool
    USING ${parameterRows({ was: 'bigint', place: 'integer' }, 3)} AS given
    WHERE mempool.sequence = given.was
    RETURNING given.place, mempool.event_sequence, mempool.transaction_id, mempool.cbor, mempool.accepted_at
  ), placed AS (
    INSERT INTO ${schema}.block_transactions
      (block_id, position, sequence, event_sequence, transaction_id, cbor, accepted_at)
    SELECT $1::bigint, place, $2::bigint + place, event_sequence, transaction_id, cbor, accepted_at
    FROM moved
  )
  SELECT count(*)::integer AS placed FROM moved`,
)

const setBytes = sql`
  UPDATE ${schema}.block_transactions AS entry SET cbor = given.cbor
  FROM ${parameterRows({ transaction_id: 'bytea', cbor: 'bytea' })} AS given
  WHERE entry.transaction_id = given.transaction_id`

const acceptancesOf = statement(
  {
    event: mempoolTransactions.eventSequence,
    id: mempoolTransactions.transactionId,
    at: mempoolTransactions.acceptedAt,
  },
  sql`SELECT event_sequence AS event, transaction_id AS id, accepted_at AS at
  FROM ${schema}.mempool_transactions WHERE sequence = ANY ($1::bigint[])`,
)

const setAcceptances = sql`
  UPDATE ${schema}.block_transactions AS entry
  SET event_sequence = given.event, accepted_at = given.at
  FROM ${parameterRows({ transaction_id: 'bytea', event: 'bigint', at: 'timestamptz' })} AS given
  WHERE entry.transaction_id = given.transaction_id`

/** Keeps time and event of acceptances whose transactions a block has with other effects. */
async function keepAcceptances(
  transaction: Connection,
  sequences: readonly bigint[],
): Promise<() => Promise<void>> {
  if (sequences.length === 0) return async () => {}
  const kept = await transaction.query(acceptancesOf, [sequences])
  return async () => {
    const columns = [bytesColumn(kept.map(({ id }) => id)), kept.map(({ event }) => event)]
    await transaction.execute(setAcceptances, [...columns, kept.map(({ at }) => at)])
  }
}

/** Gives effects other sequences. Their inputs are from before `$1`, from a block, or grow by `$2` too. */
const renumber = (moved: Sql) =>
  statement(
    { strays: int4 },
    sql`WITH moved AS (${moved}), made AS (
    UPDATE ${schema}.mempool_ledger AS ledger SET sequence = moved.becomes FROM moved
    WHERE ledger.transaction_id = moved.transaction_id AND ledger.sequence = moved.was
    RETURNING ledger.address, moved.was, moved.becomes
  ), freed AS (
    DELETE FROM ${schema}.spent_outputs AS spent USING moved WHERE spent.spent_by = moved.was
    RETURNING spent.*, moved.becomes
  ), found AS MATERIALIZED (
    SELECT freed.*, CASE WHEN freed.sequence >= $1 THEN (
      SELECT entry.sequence FROM ${schema}.block_transactions AS entry
      WHERE entry.transaction_id = freed.transaction_id
    ) ELSE freed.sequence END AS maker
    FROM freed
  ), respent AS (
    INSERT INTO ${schema}.spent_outputs
      (spent_by, transaction_id, output_index, output, address, sequence)
    SELECT becomes, transaction_id, output_index, output, address, COALESCE(maker, sequence + $2::bigint)
    FROM found
  ), remembered AS (
    UPDATE ${schema}.address_history AS history SET sequence = touched.becomes
    FROM (
      SELECT address, was, becomes FROM made
      UNION ALL SELECT address, spent_by, becomes FROM found
      UNION ALL SELECT address, sequence, COALESCE(maker, sequence + $2::bigint) FROM found
        WHERE sequence >= $1
    ) AS touched (address, was, becomes)
    WHERE history.address = touched.address AND history.sequence = touched.was
  )
  SELECT count(*)::integer AS strays FROM found WHERE maker IS NULL`,
  )

const renumberPlaced = renumber(sql`
  SELECT given.was, entry.sequence AS becomes, entry.transaction_id
  FROM ${parameterRows({ was: 'bigint', place: 'integer' }, 4)} AS given
  JOIN ${schema}.block_transactions AS entry ON entry.block_id = $3 AND entry.position = given.place`)

const shift = renumber(sql`
  UPDATE ${schema}.mempool_transactions SET sequence = sequence + $2::bigint
  WHERE sequence BETWEEN $3 AND $4
  RETURNING sequence - $2::bigint AS was, sequence AS becomes, transaction_id`)

const newestInMempool = newestBetween('mempool_transactions')

/** Moves mempool transactions into a block. @throws StoreError `STORE_CONFLICT` if one does not fit */
async function moveToBlock(
  transaction: SqlTransaction,
  held: readonly HeldTransaction[],
  { id, zero, absent }: GrowingBlock,
): Promise<void> {
  if (held.length === 0) return
  const given = [held.map(({ sequence }) => sequence), held.map(({ position }) => position + 1)]
  const [moved] = await transaction.query(place, [id, zero, ...given])
  const [result] = await transaction.query(renumberPlaced, [absent[0], 0n, id, ...given])
  if (moved?.placed !== held.length || result?.strays !== 0)
    throw transaction.doom(
      new StoreError('STORE_CONFLICT', "The mempool does not hold the block's transactions as it did"),
    )
  const others = held.flatMap(({ bytes }) => bytes ?? [])
  if (others.length === 0) return
  await transaction.execute(setBytes, [
    bytesColumn(others.map(({ id }) => id)),
    bytesColumn(others.map(({ cbor }) => cbor)),
  ])
}

/** Gives transactions of the mempool greater sequences in the same order. The event log keeps its own. */
async function shiftMempool(
  transaction: SqlTransaction,
  [first, last]: readonly [bigint, bigint],
  by: bigint,
): Promise<void> {
  for (let to = last; ; ) {
    const [span] = await transaction.query(newestInMempool, [first, to])
    if (span?.first == null || span.last === null) return
    await transaction.query(shift, [first, by, span.first, span.last])
    to = span.first - 1n
  }
}
