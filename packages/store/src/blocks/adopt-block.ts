import { int8, nullable, type SqlTransaction, schema, sql, statement } from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { appendBatch } from '../ledger/append-batch.js'
import { heightAfter, makeRoom, moveFromMempool } from './append-block.js'
import { backdate, type MempoolRow, mempoolAfter, returnRest, takeOutKnown, takeOutRest } from './make-way.js'
import { blockList, blockRow, lastSequenceInBlocks, toBlock } from './read-blocks.js'
import type { Adopted, ExaminedTransaction, ForeignBlock } from './types.js'

/** Transactions of the block that one statement appends. */
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

const spanAfter = statement(
  { first: nullable(int8), last: nullable(int8) },
  sql`SELECT min(sequence) AS first, max(sequence) AS last
  FROM ${schema}.mempool_transactions WHERE sequence > $1`,
)

/** Accept sequences of a block: of an empty block, the last one before it, and the one after that. */
interface Span {
  readonly first: bigint
  readonly last: bigint
}

/**
 * Appends a block of another operator, or an own one that left, in a transaction that holds the ledger's
 * lock; see `Blocks.adopt`.
 *
 * Blocks and mempool hold runs of accept sequences, which only grow. What the mempool and the block begin
 * with alike stays as it is. The rest of the mempool is taken out of the ledger, the rest of the block comes
 * in, and then the mempool again, as far as it can: as if it had been accepted after the block.
 */
export async function adoptBlock(
  transaction: SqlTransaction,
  block: ForeignBlock,
  examine: (cbor: Uint8Array) => ExaminedTransaction,
): Promise<Adopted> {
  const height = await heightAfter(transaction, block.previousHeaderHash)
  const [own] = await transaction.query(makeRoom, [block.headerHash])
  const [bound] = await transaction.query(bounds)
  if (bound === undefined) throw new StoreError('STORE_FAILED', 'The ledger could not be read')
  const end = bound.newest ?? bound.before
  const common = await commonRun(transaction, block)
  const cut = common.at(-1) ?? bound.before
  const rest = block.transactions.slice(common.length)
  let span: Span = { first: common[0] ?? cut + 1n, last: cut }
  let known = common.length
  let dropped = 0
  if (rest.length > 0) {
    await takeOutRest(transaction, cut)
    for (let start = 0; start < rest.length; start += step) {
      const part = rest.slice(start, start + step)
      const taken = await takeOutKnown(transaction, part, end)
      await appendBatch(transaction, { transactions: part })
      await backdate(transaction, taken)
      known += taken.length
    }
    const [added] = await transaction.query(spanAfter, [end])
    if (added?.first == null || added.last === null)
      throw new StoreError('STORE_FAILED', "The block's transactions were not appended")
    span = { first: common[0] ?? added.first, last: added.last }
    dropped = await returnRest(transaction, { block, rest, cut, end }, examine)
  }
  const [row] = await transaction.query(insert, [
    height,
    block.headerHash,
    block.header,
    block.previousHeaderHash,
    block.utxosRoot,
    block.startTime,
    block.endTime,
    span.first,
    span.last,
    block.transactions.length,
    own?.id ?? new Uint8Array(),
    own?.cbor ?? new Uint8Array(),
  ])
  if (row === undefined) throw new StoreError('STORE_FAILED', 'The block was not inserted')
  if (block.transactions.length > 0) await moveFromMempool(transaction, row)
  return { block: toBlock(row), known, dropped }
}

/** The sequences of the mempool's oldest transactions, as many as the block begins with, byte for byte. */
async function commonRun(
  transaction: SqlTransaction,
  { transactions }: ForeignBlock,
): Promise<readonly bigint[]> {
  const run: bigint[] = []
  while (run.length < transactions.length) {
    const page: readonly MempoolRow[] = await transaction.query(mempoolAfter, [run.at(-1) ?? -1n])
    if (page.length === 0) return run
    for (const { sequence, cbor } of page) {
      const next = transactions[run.length]
      if (next === undefined || Buffer.compare(next.cbor, cbor) !== 0) return run
      run.push(sequence)
    }
  }
  return run
}
