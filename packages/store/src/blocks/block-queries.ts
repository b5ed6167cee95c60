import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { type BlockRow, blockColumns, toBlock } from './block-row.js'
import type { Block, BlockCount, Blocks, OrderedTransaction } from './types.js'

type BlockQueries = Pick<
  Blocks,
  | 'oldest'
  | 'waiting'
  | 'newest'
  | 'confirmed'
  | 'unmerged'
  | 'byHash'
  | 'byHeight'
  | 'range'
  | 'transactionsOf'
  | 'counts'
>

/** The newest block that is not removed. */
export function newestBlock(schema: string): string {
  return `
    SELECT ${blockColumns} FROM ${schema}.blocks WHERE state <> 'removed'
    ORDER BY height DESC LIMIT 1`
}

export function openBlockQueries(connection: Connection, schema: string): BlockQueries {
  const blocks = async (statement: string, parameters: (Uint8Array | bigint)[] = []) =>
    (await connection.query<BlockRow>(statement, parameters)).map(toBlock)
  const one = async (statement: string, parameters?: (Uint8Array | bigint)[]): Promise<Block | undefined> =>
    (await blocks(statement, parameters))[0]

  const select = `SELECT ${blockColumns} FROM ${schema}.blocks`
  const newest = newestBlock(schema)
  // `state <> 'removed'` is what the index on heights covers.
  const confirmed = `${select} WHERE state <> 'removed' AND state = 'merged' ORDER BY height DESC LIMIT 1`
  const unmerged = `${select} WHERE state NOT IN ('merged', 'removed') ORDER BY height`
  const byHash = `${select} WHERE header_hash = $1`
  const byHeight = `${select} WHERE height = $1 AND state <> 'removed'`
  const range = `${select} WHERE height BETWEEN $1 AND $2 AND state <> 'removed' ORDER BY height`
  const counts = `
    SELECT height, state, header_hash AS "headerHash", transactions FROM ${schema}.blocks
    WHERE state <> 'removed' ORDER BY height DESC LIMIT $1`
  const oldest = `
    SELECT sequence, transaction_id AS id, cbor
    FROM ${schema}.mempool_transactions ORDER BY sequence LIMIT $1`
  // Lengths are summed before anything is read: a row's length is known without its bytes.
  const oldestWithin = `
    SELECT mempool.sequence, mempool.transaction_id AS id, mempool.cbor
    FROM (
      SELECT sequence, row_number() OVER so_far AS position, sum(bytes) OVER so_far AS total
      FROM (
        SELECT sequence, octet_length(cbor) AS bytes FROM ${schema}.mempool_transactions
        ORDER BY sequence LIMIT $1
      ) AS candidates
      WINDOW so_far AS (ORDER BY sequence ROWS UNBOUNDED PRECEDING)
    ) AS counted
    JOIN ${schema}.mempool_transactions AS mempool USING (sequence)
    WHERE counted.position = 1 OR counted.total <= $2
    ORDER BY sequence`
  const waiting = `
    SELECT count(*)::integer AS waiting
    FROM (SELECT FROM ${schema}.mempool_transactions LIMIT $1) AS counted`
  const transactionsOf = `
    SELECT transactions.cbor
    FROM ${schema}.blocks AS block
    JOIN ${schema}.block_transactions AS transactions ON transactions.block_id = block.id
    WHERE block.header_hash = $1 AND transactions.position > $2
    ORDER BY transactions.position LIMIT $3`

  return {
    async oldest(limit, maxBytes) {
      const count = checkedCount(limit)
      return maxBytes === undefined
        ? connection.query<OrderedTransaction>(oldest, [count])
        : connection.query<OrderedTransaction>(oldestWithin, [count, checkedCount(maxBytes)])
    },

    async waiting(limit) {
      const [row] = await connection.query<{ waiting: number }>(waiting, [checkedCount(limit)])
      return row?.waiting ?? 0
    },

    newest: () => one(newest),
    confirmed: () => one(confirmed),
    unmerged: () => blocks(unmerged),
    byHash: (headerHash) => one(byHash, [headerHash]),
    byHeight: (height) => one(byHeight, [height]),
    range: (from, to) => blocks(range, [from, to]),

    async transactionsOf(headerHash, { after = 0, limit = maxPosition } = {}) {
      const rows = await connection.query<{ cbor: Uint8Array }>(transactionsOf, [
        headerHash,
        checkedCount(after),
        checkedCount(limit),
      ])
      return rows.map(({ cbor }) => cbor)
    },

    async counts(limit) {
      return connection.query<BlockCount>(counts, [checkedCount(limit)])
    },
  }
}

/** Positions are PostgreSQL's `integer`. */
const maxPosition = 2 ** 31 - 1

function checkedCount(number: number): number {
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new StoreError('STORE_INVALID_ARGUMENT', 'Limits and positions are whole numbers from 0')
}
