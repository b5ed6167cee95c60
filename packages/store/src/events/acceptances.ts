import {
  bool,
  type Database,
  int8,
  lookUpByIndex,
  type Row,
  type Sql,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { mempoolTransactions } from '../schema/tables.js'

/** Rows of a log that a statement with a filter reads, at most. */
export const mostRead = 1_000

export const acceptedRow = {
  sequence: mempoolTransactions.eventSequence,
  transactionId: mempoolTransactions.transactionId,
  at: mempoolTransactions.acceptedAt,
}

/** Rows of the mempool and of blocks: `sequence` is the one of the event log. */
const entries = (rest: string, more = '') => {
  const of = (table: string) => sql`(
    SELECT event_sequence AS sequence, transaction_id AS "transactionId", accepted_at AS at ${more}
    FROM ${schema}.${table} AS entry ${rest})`
  return sql`${of('mempool_transactions')} UNION ALL ${of('block_transactions')}`
}

const inRange = 'event_sequence > $1 AND event_sequence <= $2'
const oldest = 'ORDER BY sequence LIMIT $3'

/** Acceptances after `$1`, up to `$2`, the `$3` oldest. */
export const acceptancesBetween: Sql = sql`${entries(
  `WHERE ${inRange} ORDER BY event_sequence LIMIT $3`,
)} ${oldest}`

/** Of rows that are found by a key, however many others are between them. */
const acceptancesBy = (key: string, asked: Sql) =>
  statement(
    acceptedRow,
    sql`WITH asked AS MATERIALIZED (${asked}),
      found AS MATERIALIZED (${entries(`WHERE ${key} IN (SELECT ${key} FROM asked)`)})
    SELECT * FROM found WHERE sequence > $1 AND sequence <= $2 ${oldest}`,
  )

/** By what a filter names, `$4`. An address has {@link acceptancesOfAddress}; a block has none. */
export const acceptances = {
  all: statement(acceptedRow, acceptancesBetween),
  transactions: acceptancesBy('transaction_id', sql`SELECT unnest($4::bytea[]) AS transaction_id`),
  address: undefined,
  headerHash: undefined,
}

const few = acceptancesBy(
  'sequence',
  // Accept sequences only grow: they are never less than the one of the event.
  sql`SELECT sequence FROM ${schema}.address_history WHERE address = $4 AND sequence > $1`,
)
const isFew = statement(
  { few: bool },
  sql`SELECT NOT EXISTS (
    SELECT FROM ${schema}.address_history WHERE address = $1 AND sequence > $2 OFFSET ${mostRead}
  ) AS few`,
)

// Not EXISTS: without statistics, that is planned as a join with all of the address's history.
const ofPart = statement(
  acceptedRow,
  sql`WITH part AS MATERIALIZED (${entries(`WHERE ${inRange}`, ', entry.sequence AS place')})
  SELECT sequence, "transactionId", at FROM part
  WHERE (
    SELECT true FROM ${schema}.address_history AS history
    WHERE history.address = $4 AND history.sequence = part.place
  ) ${oldest}`,
)
const nth = (table: string) => sql`(
  SELECT event_sequence FROM ${schema}.${table} WHERE ${inRange}
  ORDER BY event_sequence OFFSET ${mostRead} LIMIT 1)`
const endOfPart = statement(
  { end: int8 },
  sql`SELECT LEAST($2::bigint, ${nth('mempool_transactions')}, ${nth('block_transactions')}) AS end`,
)

/** The acceptances that a read has found, and how far it has read if there are none after it. */
export interface Found {
  readonly rows: readonly Row<typeof acceptedRow>[]
  readonly end: bigint
}

/** Acceptances of transactions that spend from or pay to an address. A busy one is read in parts. */
export function acceptancesOfAddress(
  database: Database,
  address: Uint8Array,
  { after, to, limit }: { readonly after: bigint; readonly to: bigint; readonly limit: number },
): Promise<Found> {
  return database.transaction(async (transaction) => {
    await lookUpByIndex(transaction)
    const [history] = await transaction.query(isFew, [address, after])
    if (history?.few === true)
      return { rows: await transaction.query(few, [after, to, limit, address]), end: to }
    const [part] = await transaction.query(endOfPart, [after, to])
    const end = part?.end ?? to
    return { rows: await transaction.query(ofPart, [after, end, limit, address]), end }
  })
}
