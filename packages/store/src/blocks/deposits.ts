import {
  bytesColumn,
  type Connection,
  type Database,
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
  toHex,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { blocks, deposits } from '../schema/tables.js'
import type { blockRow } from './read-blocks.js'
import type { Blocks, CreditedDeposit, DepositPlace } from './types.js'

const given = parameterRows({ transaction_id: 'bytea' })

// A deposit of a block without transactions enters the order of acceptance again, so that this ends with the
// block. Followers see it leave and come back.
const enter = statement(
  { entered: int4, waiting: int4, newest: nullable(int8) },
  sql`WITH given AS MATERIALIZED (
    SELECT * FROM ${parameterRows({ transaction_id: 'bytea', output: 'bytea', address: 'bytea' }, 3)} AS given
  ), waiting AS (
    SELECT transaction_id, output, sequence FROM ${schema}.deposits WHERE block_id IS NULL
  ), known AS (
    UPDATE ${schema}.deposits AS deposit SET header_hash = $1, sequence =
      CASE WHEN $2::boolean THEN nextval('${schema}.accept_sequence') ELSE deposit.sequence END
    FROM waiting JOIN given USING (transaction_id, output)
    WHERE deposit.transaction_id = waiting.transaction_id
    RETURNING deposit.transaction_id, waiting.sequence AS was, deposit.sequence
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id, reopenings)
    SELECT was, transaction_id, 0 FROM known WHERE was <> sequence
  ), added AS (
    INSERT INTO ${schema}.deposits (transaction_id, header_hash, sequence, output, address)
    SELECT transaction_id, $1, nextval('${schema}.accept_sequence'), output, address FROM given
    WHERE NOT EXISTS (
      SELECT FROM ${schema}.deposits AS other WHERE other.transaction_id = given.transaction_id
    )
    RETURNING transaction_id, sequence, output, address
  ), unspent AS (
    INSERT INTO ${schema}.mempool_ledger (transaction_id, output_index, output, address, sequence)
    SELECT transaction_id, 0, output, address, -1 FROM added
  ), entered AS (
    SELECT sequence FROM known UNION ALL SELECT sequence FROM added
  )
  SELECT count(*)::integer AS entered, max(sequence) AS newest,
    (SELECT count(*) FROM waiting)::integer - (SELECT count(*) FROM known)::integer AS waiting
  FROM entered`,
)

const columnsOf = (entries: readonly CreditedDeposit[]) => [
  bytesColumn(entries.map(({ id }) => id)),
  bytesColumn(entries.map(({ output }) => output)),
  bytesColumn(entries.map(({ address }) => address)),
]

const othersWait = statement(
  { waiting: int4 },
  sql`SELECT count(*)::integer AS waiting FROM ${schema}.deposits WHERE block_id IS NULL`,
)

/** The waiting deposits after those of a block have entered. */
interface Entered {
  /** How many the block lacks. */
  readonly waiting: number
  /** The greatest of their places in the order of acceptance; undefined without deposits. */
  readonly newest: bigint | undefined
}

/**
 * Takes the deposits of a block into the ledger, where they wait for {@link creditDeposits}. Under the
 * ledger's lock, unless there are none.
 *
 * @param anew whether they come after all that was accepted: their block has no transactions
 */
export async function enterDeposits(
  transaction: SqlTransaction,
  headerHash: Uint8Array,
  entries: readonly CreditedDeposit[],
  anew: boolean,
): Promise<Entered> {
  if (entries.length === 0) {
    const [row] = await transaction.query(othersWait)
    return { waiting: row?.waiting ?? 0, newest: undefined }
  }
  if (new Set(entries.map(({ id }) => toHex(id))).size < entries.length)
    throw new StoreError('STORE_INVALID_ARGUMENT', 'A block credits a deposit once')
  const [row] = await transaction.query(enter, [headerHash, String(anew), ...columnsOf(entries)])
  if (row?.entered !== entries.length || row.newest === null)
    throw transaction.doom(
      new StoreError('STORE_CONFLICT', 'A deposit is in another block, or is another one with the same id'),
    )
  return { waiting: row.waiting, newest: row.newest }
}

/** Sets the sequence of outputs of deposits, unspent or spent. `moved` has their `transaction_id`. */
const place = (moved: Sql, sequence: string) => sql`
  WITH moved AS (${moved}), unspent AS (
    UPDATE ${schema}.mempool_ledger AS ledger SET sequence = ${sequence} FROM moved
    WHERE ledger.transaction_id = moved.transaction_id AND ledger.output_index = 0
  )
  UPDATE ${schema}.spent_outputs AS spent SET sequence = ${sequence} FROM moved
  WHERE spent.transaction_id || int4send(spent.output_index) = moved.transaction_id || int4send(0)`

const credit = place(
  sql`UPDATE ${schema}.deposits SET block_id = $2 WHERE header_hash = $1 AND block_id IS NULL
    RETURNING transaction_id`,
  '$3::bigint',
)

const noteNewest = sql`
  UPDATE ${schema}.blocks SET newest_deposit = GREATEST(
    (SELECT newest_deposit FROM ${schema}.blocks WHERE state <> 'removed' AND height = $3),
    (SELECT max(sequence) FROM ${schema}.deposits WHERE header_hash = $2 AND block_id = $1)
  ) WHERE id = $1`

/** Credits the deposits in the block that they were last in. Under the ledger's lock, if there are any. */
export async function creditDeposits(
  transaction: Connection,
  { id, headerHash, firstSequence, height }: Row<typeof blockRow>,
): Promise<void> {
  await transaction.execute(credit, [headerHash, id, firstSequence])
  await transaction.execute(noteNewest, [id, headerHash, height - 1n])
}

const release = place(
  sql`UPDATE ${schema}.deposits SET block_id = NULL, released = true WHERE header_hash = $1 AND block_id = $2
    RETURNING transaction_id`,
  '-1',
)

/** Lets the deposits of removed blocks wait. Under the ledger's lock, if there are any. */
export async function releaseDeposits(
  transaction: Connection,
  removed: readonly Pick<Row<typeof blockRow>, 'id' | 'headerHash'>[],
): Promise<void> {
  for (const { id, headerHash } of removed) await transaction.execute(release, [headerHash, id])
}

const waitingSpent = statement(
  { spent: int4 },
  sql`SELECT count(*)::integer AS spent
  FROM ${schema}.deposits AS deposit JOIN ${schema}.spent_outputs AS spent
    ON spent.transaction_id || int4send(spent.output_index) = deposit.transaction_id || int4send(0)
  WHERE deposit.block_id IS NULL AND spent.spent_by <= $1`,
)

/** @throws StoreError `STORE_CONFLICT` if blocks spend a deposit that none credits */
export async function requireCredited(transaction: SqlTransaction, lastSequence: bigint): Promise<void> {
  const [row] = await transaction.query(waitingSpent, [lastSequence])
  if (row?.spent !== 0)
    throw transaction.doom(
      new StoreError('STORE_CONFLICT', 'The block spends a deposit that no block credits'),
    )
}

const forget = statement(
  { forgotten: int4, unspent: int4 },
  sql`WITH forgotten AS (
    DELETE FROM ${schema}.deposits AS deposit USING ${given} AS given
    WHERE deposit.transaction_id = given.transaction_id AND deposit.block_id IS NULL
    RETURNING deposit.transaction_id, deposit.sequence
  ), unspent AS (
    DELETE FROM ${schema}.mempool_ledger AS ledger USING ${given} AS given
    WHERE ledger.transaction_id = given.transaction_id AND ledger.output_index = 0 AND ledger.sequence = -1
    RETURNING ledger.transaction_id
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id, reopenings)
    SELECT sequence, transaction_id, 0 FROM forgotten ORDER BY sequence
  )
  SELECT (SELECT count(*) FROM forgotten)::integer AS forgotten,
    (SELECT count(*) FROM unspent)::integer AS unspent`,
)

/** Takes deposits that wait out of the ledger, under its lock; see `Blocks.forgetDeposits`. */
export async function forgetDeposits(transaction: SqlTransaction, ids: readonly Uint8Array[]): Promise<void> {
  if (ids.length === 0) return
  const [row] = await transaction.query(forget, [bytesColumn(ids)])
  if (row?.forgotten !== ids.length || row.unspent !== ids.length)
    throw transaction.doom(
      new StoreError('STORE_CONFLICT', 'A deposit to forget is in a block, spent, or not in the ledger'),
    )
}

const inBlocks = statement(
  { credited: int4 },
  sql`SELECT count(*)::integer AS credited
  FROM ${schema}.blocks AS block JOIN ${schema}.deposits AS deposit USING (header_hash)
  WHERE block.height >= $1 AND block.state NOT IN ('merged', 'removed')`,
)

/** Whether unmerged blocks from a height on credit deposits. */
export async function haveDeposits(connection: Connection, fromHeight: bigint): Promise<boolean> {
  const [row] = await connection.query(inBlocks, [fromHeight])
  return (row?.credited ?? 0) > 0
}

const credited = { id: deposits.transactionId, output: deposits.output, address: deposits.address }
const ofBlock = statement(
  credited,
  sql`SELECT transaction_id AS id, output, address FROM ${schema}.deposits
  WHERE header_hash = $1 ORDER BY transaction_id`,
)

const waiting = statement(
  credited,
  sql`SELECT transaction_id AS id, output, address FROM ${schema}.deposits
  WHERE block_id IS NULL ORDER BY transaction_id`,
)

const ofKeptBlock = statement(
  { id: deposits.transactionId, output: deposits.output },
  sql`SELECT transaction_id AS id, output FROM ${schema}.deposits WHERE header_hash = $1
  UNION SELECT transaction_id AS id, output FROM ${schema}.kept_deposits WHERE header_hash = $1 ORDER BY id`,
)

const among = (table: string, place: number) => sql`
  SELECT transaction_id AS id, output, header_hash AS "headerHash", ${place} AS place
  FROM ${schema}.${table} JOIN ${given} AS given USING (transaction_id)`

const byId = statement(
  { id: deposits.transactionId, output: deposits.output, headerHash: deposits.headerHash },
  sql`SELECT id, output, "headerHash" FROM (
    ${among('kept_deposits', 0)} UNION ALL ${among('deposits', 1)}
  ) AS credits ORDER BY place`,
)

/** Reads of deposits. */
export function readDeposits(
  connection: Connection,
): Pick<Blocks, 'depositsOf' | 'creditsOf' | 'depositsById' | 'waitingDeposits'> {
  return {
    creditsOf: (headerHash) => connection.query(ofKeptBlock, [headerHash]),
    depositsById: (ids) => connection.query(byId, [bytesColumn(ids)]),
    depositsOf: (headerHash) => connection.query(ofBlock, [headerHash]),
    waitingDeposits: () => connection.query(waiting),
  }
}

const placeRow = {
  headerHash: deposits.headerHash,
  blockId: deposits.blockId,
  previousHeaderHash: blocks.previousHeaderHash,
  height: blocks.height,
  state: blocks.state,
}
const placeOf = statement(
  placeRow,
  sql`SELECT deposit.header_hash AS "headerHash", deposit.block_id AS "blockId",
    block.previous_header_hash AS "previousHeaderHash", block.height, block.state
  FROM ${schema}.deposits AS deposit JOIN ${schema}.blocks AS block USING (header_hash)
  WHERE deposit.transaction_id = $1`,
)

/** Where a deposit is; see `Store.deposit`. */
export async function placeOfDeposit(database: Database, id: Uint8Array): Promise<DepositPlace | undefined> {
  const [row] = await database.query(placeOf, [id])
  if (row === undefined) return undefined
  const { blockId, state, ...place } = row
  return { ...place, state: blockId === null || state === 'removed' ? 'waiting' : state }
}
