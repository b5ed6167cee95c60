import { createHash } from 'node:crypto'
import {
  bytesColumn,
  type Connection,
  int4,
  type Parameter,
  parameterRows,
  type Row,
  type Statement,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import { getTableColumns } from 'drizzle-orm'
import { StoreError } from '../errors.js'
import { blocks, blockTransactions, mempoolTransactions } from '../schema/tables.js'
import type { Block, Blocks } from './types.js'

const {
  submittedAt: _s,
  committedAt: _c,
  maturedAt: _m,
  removedAt: _r,
  newestDeposit: _d,
  ...blockColumns
} = getTableColumns(blocks)

export const blockRow = blockColumns

export const blockList = selectList(blockRow)

export function toBlock(row: Row<typeof blockRow>): Block {
  const {
    id: _,
    commitTransactionId,
    commitTransaction,
    mergeTransactionId,
    mergeTransaction,
    mergedAt,
    ...block
  } = row
  return {
    ...block,
    ...(commitTransactionId !== null &&
      commitTransaction !== null && {
        commitTransaction: { id: commitTransactionId, cbor: commitTransaction },
      }),
    ...(mergeTransactionId !== null &&
      mergeTransaction !== null && { mergeTransaction: { id: mergeTransactionId, cbor: mergeTransaction } }),
    ...(mergedAt !== null && { mergedAt }),
  }
}

const select = (rest: string) => statement(blockRow, sql`SELECT ${blockList} FROM ${schema}.blocks ${rest}`)

export const newestBlock = select(`WHERE state <> 'removed' ORDER BY height DESC LIMIT 1`)

// `state <> 'removed'` is the condition of the partial index on heights.
const newestMerged = select(`WHERE state <> 'removed' AND state = 'merged' ORDER BY height DESC LIMIT 1`)
const unmerged = select(`WHERE state NOT IN ('merged', 'removed') ORDER BY height`)
const byHash = select('WHERE header_hash = $1')
const byHashes = statement(
  blockRow,
  sql`SELECT ${blockList} FROM ${schema}.blocks
  WHERE header_hash IN (SELECT header_hash FROM ${parameterRows({ header_hash: 'bytea' })} AS given)`,
)
const byHeight = select(`WHERE height = $1 AND state <> 'removed'`)
const range = select(`WHERE height BETWEEN $1 AND $2 AND state <> 'removed' ORDER BY height`)

const withPosition = { ...blockRow, position: blockTransactions.position }
const ofTransaction = statement(
  withPosition,
  sql`SELECT ${selectList(blockRow, 'block')}, transactions.position
  FROM ${schema}.block_transactions AS transactions
  JOIN ${schema}.blocks AS block ON block.id = transactions.block_id
  WHERE transactions.transaction_id = $1 AND block.state <> 'removed'`,
)

const countRow = {
  height: blocks.height,
  state: blocks.state,
  headerHash: blocks.headerHash,
  transactions: blocks.transactions,
}
const counts = statement(
  countRow,
  sql`SELECT ${selectList(countRow)} FROM ${schema}.blocks
  WHERE state <> 'removed' ORDER BY height DESC LIMIT $1`,
)

const ordered = {
  sequence: mempoolTransactions.sequence,
  id: mempoolTransactions.transactionId,
  cbor: mempoolTransactions.cbor,
}
/** The sequence of the newest block's last transaction; NULL without blocks. */
export const lastSequenceInBlocks = sql`(SELECT last_sequence FROM ${schema}.blocks
  WHERE state <> 'removed' ORDER BY height DESC LIMIT 1)`

// The mempool's transactions come after those of the newest block. Without this limit, what blocks have taken
// since the last vacuum would be read each time.
export const endOfBlocks = sql`COALESCE(${lastSequenceInBlocks}, 0)`

const oldest = statement(
  ordered,
  sql`SELECT ${selectList(ordered)} FROM ${schema}.mempool_transactions
  WHERE sequence > GREATEST($2, ${endOfBlocks}) ORDER BY sequence LIMIT $1`,
)
// The lengths are summed before any CBOR is read: PostgreSQL knows a value's length without reading it. The
// total of the first one is its own length.
const oldestWithin = statement(
  ordered,
  sql`SELECT ${selectList(ordered)}
  FROM (
    SELECT sequence, transaction_id, cbor, octet_length(cbor) AS bytes,
      sum(octet_length(cbor)) OVER (ORDER BY sequence ROWS UNBOUNDED PRECEDING) AS total
    FROM (
      SELECT sequence, transaction_id, cbor FROM ${schema}.mempool_transactions
      WHERE sequence > GREATEST($3, ${endOfBlocks}) ORDER BY sequence LIMIT $1
    ) AS candidates
  ) AS counted
  WHERE total <= $2 OR total = bytes
  ORDER BY sequence`,
)
const waiting = statement(
  { waiting: int4 },
  sql`SELECT count(*)::integer AS waiting
  FROM (
    SELECT FROM ${schema}.mempool_transactions
    WHERE sequence > GREATEST($2, ${endOfBlocks}) ORDER BY sequence LIMIT $1
  ) AS counted`,
)

const inMempool = statement(
  { position: int4, sequence: mempoolTransactions.sequence },
  sql`SELECT given.position, mempool.sequence
  FROM ${parameterRows({ transaction_id: 'bytea', digest: 'bytea' })} AS given
  JOIN ${schema}.mempool_transactions AS mempool USING (transaction_id)
  WHERE sha256(mempool.cbor) = given.digest`,
)
/** Transactions that one query compares. */
const comparedAtOnce = 2_000

const newestIn = select(
  `WHERE state <> 'removed' AND state::text = ANY ($1::text[]) ORDER BY height DESC LIMIT 1`,
)

// Positions count from 1 in the table.
const transactionsOf = (position: string, direction: 'ASC' | 'DESC') =>
  statement(
    ordered,
    sql`SELECT ${selectList(ordered, 'entry')}
    FROM ${schema}.blocks AS block
    JOIN ${schema}.block_transactions AS entry ON entry.block_id = block.id
    WHERE block.header_hash = $1 AND entry.position ${position}
    ORDER BY entry.position ${direction} LIMIT $3`,
  )
const oldestOf = transactionsOf('> $2::bigint', 'ASC')
const newestOf = transactionsOf('<= block.transactions - $2::bigint', 'DESC')

const times = {
  acceptedAt: blockTransactions.acceptedAt,
  committedAt: blocks.committedAt,
  mergedAt: blocks.mergedAt,
}
const timesOfNewest = statement(
  times,
  sql`SELECT entry.accepted_at AS "acceptedAt", block.committed_at AS "committedAt",
    block.merged_at AS "mergedAt"
  FROM ${schema}.blocks AS block
  JOIN ${schema}.block_transactions AS entry ON entry.block_id = block.id AND entry.position = 1
  WHERE block.state <> 'removed' AND block.state::text = ANY ($1::text[]) ORDER BY block.height DESC LIMIT 1`,
)

type BlockReads = Pick<
  Blocks,
  | 'oldest'
  | 'waiting'
  | 'inMempool'
  | 'newest'
  | 'confirmed'
  | 'unmerged'
  | 'byHash'
  | 'byHashes'
  | 'byHeight'
  | 'ofTransaction'
  | 'range'
  | 'transactionsOf'
  | 'counts'
  | 'delays'
>

/** Reads of blocks, and of the part of the mempool that the next block is built from. */
export function readBlocks(connection: Connection): BlockReads {
  const many = async (select: Statement<typeof blockRow>, parameters: Parameter[] = []) =>
    (await connection.query(select, parameters)).map(toBlock)
  const one = async (select: Statement<typeof blockRow>, parameters?: Parameter[]) =>
    (await many(select, parameters))[0]

  return {
    async oldest(limit, maxBytes, after = 0n) {
      const count = checkedCount(limit)
      return maxBytes === undefined
        ? connection.query(oldest, [count, after])
        : connection.query(oldestWithin, [count, checkedCount(maxBytes), after])
    },

    async inMempool(transactions) {
      const held = new Map<number, bigint>()
      for (let start = 0; start < transactions.length; start += comparedAtOnce) {
        const part = transactions.slice(start, start + comparedAtOnce)
        // Not their bytes: those of another operator's block may be too many for one query.
        for (const { position, sequence } of await connection.query(inMempool, [
          bytesColumn(part.map(({ id }) => id)),
          bytesColumn(part.map(({ cbor }) => sha256(cbor))),
        ]))
          held.set(start + position - 1, sequence)
      }
      return held
    },

    async waiting(limit, after = 0n) {
      const [row] = await connection.query(waiting, [checkedCount(limit), after])
      return row?.waiting ?? 0
    },

    newest: (states) => (states === undefined ? one(newestBlock) : one(newestIn, [states])),
    confirmed: () => one(newestMerged),
    unmerged: () => many(unmerged),
    byHash: (headerHash) => one(byHash, [headerHash]),
    byHashes: (headerHashes) => many(byHashes, [bytesColumn(headerHashes)]),
    byHeight: (height) => one(byHeight, [height]),
    async ofTransaction(id) {
      const [row] = await connection.query(ofTransaction, [id])
      if (row === undefined) return undefined
      const { position, ...block } = row
      // Positions count from 1 in the table.
      return { block: toBlock(block), position: position - 1 }
    },

    range: (from, to) => many(range, [from, to]),

    async transactionsOf(headerHash, { offset = 0, limit = maxCount, newestFirst = false } = {}) {
      const part = [headerHash, checkedCount(offset), checkedCount(limit)]
      return connection.query(newestFirst ? newestOf : oldestOf, part)
    },

    counts: async (limit) => connection.query(counts, [checkedCount(limit)]),

    async delays() {
      const [committed] = await connection.query(timesOfNewest, [['committed', 'mature', 'merged']])
      const [merged] = await connection.query(timesOfNewest, [['merged']])
      const since = (from: Date | undefined, to: Date | null | undefined) =>
        from && to ? to.getTime() - from.getTime() : undefined
      return {
        committedMs: since(committed?.acceptedAt, committed?.committedAt),
        mergedMs: since(merged?.acceptedAt, merged?.mergedAt),
      }
    },
  }
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

const maxCount = Number.MAX_SAFE_INTEGER

function checkedCount(number: number): number {
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new StoreError('STORE_INVALID_ARGUMENT', 'Limits and positions must be whole numbers from 0')
}
