import {
  type Database,
  int4,
  int8,
  lookUpByIndex,
  nullable,
  schema,
  selectList,
  sql,
  statement,
  timestamptz,
} from '@ratatosk/database'
import type { BlockTotal, CountedMinutes, ExplorerReads } from '@ratatosk/ports'
import { getTableColumns } from 'drizzle-orm'
import { acceptancesBetween } from '../events/events.js'
import { blocks } from '../schema/tables.js'

/** Blocks of an hour: at most one is committed in each slot of a second. */
const maxBlocks = 5_000

const {
  id: _id,
  previousHeaderHash: _previous,
  utxosRoot: _root,
  startTime: _start,
  firstSequence: _first,
  lastSequence: _last,
  mergeTransaction: _merge,
  ...timedRow
} = getTableColumns(blocks)

const select = (rest: string) =>
  statement(timedRow, sql`SELECT ${selectList(timedRow)} FROM ${schema}.blocks ${rest}`)
const byHash = select('WHERE header_hash = $1')
const byHeight = select(`WHERE height = $1 AND state <> 'removed'`)
const newest = select(`WHERE state <> 'removed' ORDER BY height DESC LIMIT $1`)
const newestBefore = select(`WHERE state <> 'removed' AND height < $2 ORDER BY height DESC LIMIT $1`)

const totals = statement(
  { state: blocks.state, blocks: int4, transactions: int8 },
  sql`SELECT state, count(*)::integer AS blocks, sum(transactions)::bigint AS transactions
  FROM ${schema}.blocks WHERE state <> 'removed' AND height > $1 AND height <= $2 GROUP BY state`,
)

const counted = { minute: timestamptz, transactions: int4, last: int8 }
const minutesOf = (rows: ReturnType<typeof sql>) =>
  statement(
    counted,
    sql`SELECT date_trunc('minute', at) AS minute, count(*)::integer AS transactions, max(sequence) AS last
    FROM (${rows}) AS counted GROUP BY 1 ORDER BY 1`,
  )
const accepted = minutesOf(acceptancesBetween)
const rejected = minutesOf(sql`SELECT sequence, rejected_at AS at FROM ${schema}.rejected_submissions
  WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`)
const newestOf = (table: string) => sql`(
  SELECT event_sequence FROM ${schema}.${table} WHERE event_sequence <= $1
  ORDER BY event_sequence DESC LIMIT $2::integer + 1)`
const beforeNewest = statement(
  { sequence: int8 },
  sql`SELECT COALESCE((
    SELECT event_sequence FROM (
      ${newestOf('mempool_transactions')} UNION ALL ${newestOf('block_transactions')}
    ) AS newest ORDER BY event_sequence DESC OFFSET $2 LIMIT 1
  ), 0) AS sequence`,
)

const reached = {
  committed: { states: `('committed', 'mature', 'merged')`, from: 'accepted_at', to: 'committed_at' },
  merged: { states: `('merged')`, from: 'committed_at', to: 'merged_at' },
} as const
type Reached = keyof typeof reached

const newestIn = (to: Reached) => sql`(
  SELECT id, height, transactions, committed_at, merged_at FROM ${schema}.blocks
  WHERE state <> 'removed' AND state IN ${reached[to].states} ORDER BY height DESC LIMIT ${maxBlocks})`

const movedTo = (to: Reached) =>
  statement(
    { minute: timestamptz, transactions: int4 },
    sql`SELECT date_trunc('minute', ${reached[to].to}) AS minute, sum(transactions)::integer AS transactions
    FROM ${newestIn(to)} AS newest WHERE ${reached[to].to} >= $1::timestamptz GROUP BY 1 ORDER BY 1`,
  )
const moved = { committed: movedTo('committed'), merged: movedTo('merged') }

// Whole blocks, the newest first, until there are enough transactions: no others are read.
const delayTo = (to: Reached) =>
  statement(
    { p50: nullable(int8), p95: nullable(int8), transactions: int4 },
    sql`SELECT
      (percentile_disc(0.5) WITHIN GROUP (ORDER BY took))::bigint AS p50,
      (percentile_disc(0.95) WITHIN GROUP (ORDER BY took))::bigint AS p95,
      count(*)::integer AS transactions
    FROM (
      SELECT extract(epoch FROM ${reached[to].to} - ${reached[to].from}) * 1000 AS took
      FROM (
        SELECT *,
          sum(transactions) OVER (ORDER BY height DESC ROWS UNBOUNDED PRECEDING) - transactions AS newer
        FROM ${newestIn(to)} AS newest WHERE ${reached[to].to} >= $1::timestamptz
      ) AS block
      JOIN ${schema}.block_transactions AS entry ON entry.block_id = block.id
      WHERE block.newer < $2
    ) AS measured`,
  )
const delay = { committed: delayTo('committed'), merged: delayTo('merged') }

/** The explorer's reads of blocks; see `Store.explorer`. */
export function openExplorer(database: Database): ExplorerReads {
  const minutes = async (
    query: typeof accepted,
    parameters: [bigint, bigint, number],
  ): Promise<CountedMinutes> => {
    const rows = await database.query(query, parameters)
    const last = rows.reduce<bigint | undefined>(
      (most, row) => (most === undefined || row.last > most ? row.last : most),
      undefined,
    )
    return { minutes: rows.map(({ minute, transactions }) => ({ minute, transactions })), last }
  }
  return {
    blocks: ({ before, limit }) =>
      before === undefined ? database.query(newest, [limit]) : database.query(newestBefore, [limit, before]),
    async block(id) {
      const [row] = await database.query(typeof id === 'bigint' ? byHeight : byHash, [id])
      return row
    },
    async totals(after, to) {
      const rows = await database.query(totals, [after, to])
      return rows.flatMap(({ state, blocks, transactions }): BlockTotal[] =>
        state === 'removed' ? [] : [{ state, blocks, transactions: Number(transactions) }],
      )
    },
    accepted: (after, to, limit) => minutes(accepted, [after, to, limit]),
    async acceptedBefore(to, count) {
      const [row] = await database.query(beforeNewest, [to, count])
      return row?.sequence ?? 0n
    },
    rejected: (after, to, limit) => minutes(rejected, [after, to, limit]),
    moved: (to, since) => database.query(moved[to], [since.toISOString()]),
    async delay(to, since, limit) {
      const [row] = await database.transaction(async (transaction) => {
        await lookUpByIndex(transaction)
        return transaction.query(delay[to], [since.toISOString(), limit])
      })
      if (row === undefined || row.p50 === null || row.p95 === null) return undefined
      return { p50: Number(row.p50), p95: Number(row.p95), transactions: row.transactions }
    },
  }
}
