import { createHash } from 'node:crypto'
import {
  bytesColumn,
  type Connection,
  int4,
  int8,
  keysetPages,
  type Parameter,
  parameterRows,
  type Row,
  type Statement,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import type { OutputReference } from '@ratatosk/ledger'
import { getTableColumns } from 'drizzle-orm'
import { StoreError } from '../errors.js'
import type { StoredOutput } from '../ledger/ledger.js'
import {
  blocks,
  blockTransactions,
  mempoolLedger,
  mempoolTransactions,
  spentOutputs,
} from '../schema/tables.js'
import type { Block, Blocks, LedgerOutput } from './types.js'

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

/** The most outputs in one page. */
const pageSize = 5_000

const output = {
  transactionId: mempoolLedger.transactionId,
  index: mempoolLedger.outputIndex,
  output: mempoolLedger.output,
}
const spentOutput = { spentBy: spentOutputs.spentBy, ...output }

// The first and last sequence of the mempool. If it is empty: where it would start. Before the first
// transaction the ledger is the genesis.
const mempoolSpan = statement(
  { first: int8, last: int8 },
  sql`WITH accepted AS (
    SELECT min(sequence) AS first, COALESCE(
      max(sequence),
      ${lastSequenceInBlocks},
      (SELECT GREATEST(max(sequence), 0) FROM ${schema}.mempool_ledger),
      0
    ) AS last
    FROM ${schema}.mempool_transactions
  )
  SELECT COALESCE(first, last + 1) AS first, last FROM accepted`,
)

// Produced before the mempool, and spent by it when the read started. A deposit that waits has sequence -1:
// no block credits it.
const spentByMempool = statement(
  spentOutput,
  sql`SELECT ${selectList(spentOutput)}
  FROM ${schema}.spent_outputs
  WHERE spent_by <= $2 AND sequence >= 0 AND sequence < $1
    AND (spent_by, transaction_id, output_index) > ($3, $4, $5)
  ORDER BY spent_by, transaction_id, output_index LIMIT ${pageSize}`,
)

// Produced before the mempool and unspent when the read started, though perhaps spent since.
const unspent = statement(
  output,
  sql`(
    SELECT ${selectList(output)}
    FROM ${schema}.mempool_ledger
    WHERE sequence >= 0 AND sequence < $1 AND (transaction_id, output_index) > ($3, $4)
    ORDER BY transaction_id, output_index LIMIT ${pageSize}
  )
  UNION ALL
  SELECT ${selectList(output)}
  FROM ${schema}.spent_outputs
  WHERE spent_by > $2 AND sequence >= 0 AND sequence < $1 AND (transaction_id, output_index) > ($3, $4)
  ORDER BY "transactionId", index LIMIT ${pageSize}`,
)

const beforeAll: OutputReference = { transactionId: new Uint8Array(), index: -1 }

/**
 * The unspent outputs after an unmerged block (default: the newest), without a long transaction: with the
 * first and last later sequence known, the set is fixed, and each statement reads both tables of outputs.
 */
export async function* outputsAfterBlock(
  connection: Connection,
  block?: Pick<Block, 'lastSequence'>,
): AsyncGenerator<readonly LedgerOutput[], void> {
  const [mempool] = await connection.query(mempoolSpan)
  if (mempool === undefined) return
  const { last } = mempool
  const first = block === undefined ? mempool.first : block.lastSequence + 1n

  const readSpent = (after: Row<typeof spentOutput> | undefined) => {
    const { spentBy, transactionId, index } = after ?? { spentBy: first, ...beforeAll }
    return connection.query(spentByMempool, [first, last, spentBy, transactionId, index])
  }
  for await (const page of keysetPages(readSpent, isShort)) {
    yield page.map(({ spentBy: _, ...output }) => output)
  }

  const readUnspent = (after: Row<typeof output> | undefined) => {
    const { transactionId, index } = after ?? beforeAll
    return connection.query(unspent, [first, last, transactionId, index])
  }
  yield* keysetPages(readUnspent, isShort)
}

// Outputs that the mempool produced have a later sequence; those it spent are among the spent outputs.
const namedAfterNewest = statement(
  { position: int4, output: mempoolLedger.output },
  sql`WITH mempool AS MATERIALIZED (
    SELECT COALESCE(
      ${lastSequenceInBlocks} + 1,
      (SELECT min(sequence) FROM ${schema}.mempool_transactions),
      9223372036854775807
    ) AS first
  ), asked AS MATERIALIZED (
    SELECT * FROM ${parameterRows({ transaction_id: 'bytea', output_index: 'integer' })} AS asked
  )
  SELECT asked.position, ledger.output
  FROM asked JOIN ${schema}.mempool_ledger AS ledger USING (transaction_id, output_index)
  WHERE ledger.sequence >= 0 AND ledger.sequence < (SELECT first FROM mempool)
  UNION ALL
  SELECT asked.position, spent.output
  FROM asked JOIN ${schema}.spent_outputs AS spent
    ON spent.transaction_id || int4send(spent.output_index)
      = asked.transaction_id || int4send(asked.output_index)
  WHERE spent.spent_by >= (SELECT first FROM mempool)
    AND spent.sequence >= 0 AND spent.sequence < (SELECT first FROM mempool)`,
)

/** Looks outputs up that are unspent after the newest block; see `Blocks.outputsAfterNewest`. */
export async function outputsAfterNewest(
  connection: Connection,
  references: readonly OutputReference[],
): Promise<StoredOutput[]> {
  if (references.length === 0) return []
  const rows = await connection.query(namedAfterNewest, [
    bytesColumn(references.map(({ transactionId }) => transactionId)),
    references.map(({ index }) => index),
  ])
  return rows.flatMap(({ position, output }) => {
    const reference = references[position - 1]
    return reference === undefined ? [] : [{ reference, output }]
  })
}

function isShort(page: readonly unknown[]): boolean {
  return page.length < pageSize
}
