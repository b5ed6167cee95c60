import { decodeHeader } from '@ratatosk/block'
import {
  bool,
  bytesColumn,
  type Columns,
  type Database,
  int8,
  lookUpByIndex,
  type Parameter,
  queryInIndexOrder,
  type Row,
  type Sql,
  type Statement,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { EventFilter, EventLog, EventPage, EventRange, LedgerEvent } from '@ratatosk/ports'
import { StoreError } from '../errors.js'
import { blockEvents, mempoolTransactions, rejections } from '../schema/tables.js'
import { verdictEvents, verdicts as verdictTable } from '../schema/verdict-tables.js'

/** Rows of a log that a statement with a filter reads, at most. */
const mostRead = 1_000

const acceptedRow = {
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
const acceptances = {
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
interface Found {
  readonly rows: readonly Row<typeof acceptedRow>[]
  readonly end: bigint
}

/** Acceptances of transactions that spend from or pay to an address. A busy one is read in parts. */
function acceptancesOfAddress(
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

const maxPage = 1_000
const most = BigInt(mostRead)

const head = statement(
  { accepted: int8, rejected: int8, block: int8, verdict: int8 },
  sql`SELECT
    GREATEST(
      (SELECT max(event_sequence) FROM ${schema}.mempool_transactions),
      (SELECT max(event_sequence) FROM ${schema}.block_transactions),
      0
    ) AS accepted,
    COALESCE((SELECT max(sequence) FROM ${schema}.rejected_submissions), 0) AS rejected,
    COALESCE((SELECT max(sequence) FROM ${schema}.block_events), 0) AS block,
    COALESCE((SELECT max(sequence) FROM ${schema}.verdict_events), 0) AS verdict`,
)

// Parameters of all statements below: after, to, limit, and what the filter names.

const givenIds = '(SELECT unnest($4::bytea[]))'

const rejectedRow = {
  sequence: rejections.sequence,
  submissionId: rejections.submissionId,
  transactionId: rejections.transactionId,
  code: rejections.code,
  message: rejections.message,
  at: rejections.rejectedAt,
}
const everyRejection = statement(
  rejectedRow,
  sql`SELECT submission.sequence, submission.submission_id AS "submissionId",
    letter.transaction_id AS "transactionId",
    letter.code, letter.message, submission.rejected_at AS at
  FROM ${schema}.rejected_submissions AS submission
  JOIN ${schema}.rejections AS letter USING (digest)
  WHERE submission.sequence > $1 AND submission.sequence <= $2
  ORDER BY submission.sequence LIMIT $3`,
)
// Rejected submissions have no index on their bytes, so only the newest of the same bytes is found.
const rejectionsOfTransactions = statement(
  rejectedRow,
  sql`WITH found AS MATERIALIZED (
    SELECT sequence, submission_id AS "submissionId", transaction_id AS "transactionId", code, message,
      rejected_at AS at
    FROM ${schema}.rejections WHERE transaction_id IN ${givenIds}
  )
  SELECT * FROM found WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`,
)

const blockRow = {
  sequence: blockEvents.sequence,
  headerHash: blockEvents.headerHash,
  height: blockEvents.height,
  state: blockEvents.state,
  transactions: blockEvents.transactions,
  lastSequence: blockEvents.lastSequence,
  endTime: blockEvents.endTime,
  commitTransactionId: blockEvents.commitTransactionId,
  mergeTransactionId: blockEvents.mergeTransactionId,
  at: blockEvents.at,
}
const blockStates = (condition: Sql | string = 'true', asked: Sql | string = '') =>
  statement(
    blockRow,
    sql`${asked} SELECT sequence, header_hash AS "headerHash", height, state, transactions,
      last_sequence AS "lastSequence",
      end_time AS "endTime", commit_transaction_id AS "commitTransactionId",
      merge_transaction_id AS "mergeTransactionId", at
    FROM ${schema}.block_events AS event
    WHERE sequence > $1 AND sequence <= $2 AND ${condition} ORDER BY sequence LIMIT $3`,
  )

const blocks = {
  all: blockStates(),
  headerHash: blockStates('header_hash = $4'),
  // Not EXISTS: without statistics, that is planned as a join with all of the address's history.
  address: blockStates(sql`(
    SELECT true FROM ${schema}.address_history AS history
    WHERE history.address = $4 AND history.sequence BETWEEN event.first_sequence AND event.last_sequence
    LIMIT 1)`),
  transactions: blockStates(
    sql`EXISTS (SELECT FROM asked WHERE asked.sequence BETWEEN event.first_sequence AND event.last_sequence)`,
    sql`WITH asked AS MATERIALIZED (
      SELECT sequence FROM ${schema}.mempool_transactions WHERE transaction_id IN ${givenIds}
      UNION ALL
      SELECT sequence FROM ${schema}.block_transactions WHERE transaction_id IN ${givenIds}
      UNION ALL
      SELECT sequence FROM ${schema}.resubmissions WHERE transaction_id IN ${givenIds}
    )`,
  ),
}

const verdictRow = {
  sequence: verdictEvents.sequence,
  headerHash: verdictEvents.headerHash,
  height: verdictTable.height,
  header: verdictTable.header,
  state: verdictEvents.state,
  reason: verdictEvents.reason,
  policy: verdictEvents.policy,
  fraud: verdictEvents.fraud,
  at: verdictEvents.at,
}
const verdictStates = (condition = 'true') =>
  statement(
    verdictRow,
    sql`SELECT event.sequence, header_hash AS "headerHash", verdict.height, verdict.header, event.state,
      event.reason, event.policy, event.fraud, event.at
    FROM ${schema}.verdict_events AS event JOIN ${schema}.verdicts AS verdict USING (header_hash)
    WHERE event.sequence > $1 AND event.sequence <= $2 AND ${condition} ORDER BY event.sequence LIMIT $3`,
  )

const verdicts = {
  all: verdictStates(),
  headerHash: verdictStates('header_hash = $4'),
  address: undefined,
  transactions: undefined,
}

const rejectionsOf = {
  all: everyRejection,
  transactions: rejectionsOfTransactions,
  address: undefined,
  headerHash: undefined,
}

export function openEvents(database: Database): EventLog {
  return {
    async head() {
      const [row] = await database.query(head)
      return row ?? { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }
    },

    async read(range) {
      const { filter, limit } = range
      if (!Number.isInteger(limit) || limit < 1 || limit > maxPage) {
        throw new StoreError('STORE_INVALID_ARGUMENT', `A page must have 1 to ${maxPage} events of each kind`)
      }
      const { kind, values } = chosen(filter)
      const wants = (type: LedgerEvent['type']) => filter.types === undefined || filter.types.includes(type)
      const read = async <S extends Columns>(
        type: LedgerEvent['type'],
        statement: Statement<S> | undefined,
        end = range.to[type],
      ): Promise<Part<Row<S>>> => {
        const after = range.after[type]
        if (statement === undefined || end <= after || !wants(type)) return { rows: [], end: range.to[type] }
        return { rows: await queryInIndexOrder(database, statement, [after, end, limit, ...values]), end }
      }
      // How many of its rows match is not known, so that a part of the log is read at a time.
      const endOfBlocks =
        kind === 'transactions' || kind === 'address'
          ? earlier(range.to.block, range.after.block + most)
          : range.to.block
      return inOrder(range, {
        accepted:
          kind === 'address' && filter.address !== undefined && wants('accepted')
            ? await acceptancesOfAddress(database, filter.address, {
                after: range.after.accepted,
                to: range.to.accepted,
                limit,
              })
            : await read('accepted', acceptances[kind]),
        rejected: await read('rejected', rejectionsOf[kind]),
        block: await read('block', blocks[kind], endOfBlocks),
        verdict: await read('verdict', verdicts[kind]),
      })
    },
  }
}

/** The names of a filter, as the parameter of the statements. */
function chosen({ transactions, address, headerHash }: EventFilter): {
  readonly kind: keyof typeof blocks
  readonly values: readonly Parameter[]
} {
  if (transactions !== undefined) return { kind: 'transactions', values: [bytesColumn(transactions)] }
  if (address !== undefined) return { kind: 'address', values: [address] }
  if (headerHash !== undefined) return { kind: 'headerHash', values: [headerHash] }
  return { kind: 'all', values: [] }
}

/** Events of one kind, and up to where they were read if there are none after it. */
interface Part<R> {
  readonly rows: readonly R[]
  readonly end: bigint
}

interface Parts {
  readonly accepted: Part<Row<typeof acceptedRow>>
  readonly rejected: Part<Row<typeof rejectedRow>>
  readonly block: Part<Row<typeof blockRow>>
  readonly verdict: Part<Row<typeof verdictRow>>
}

/** Puts a block's states after its acceptances; a page without all of these leaves them to a later one. */
function inOrder({ after, to, limit }: EventRange, parts: Parts): EventPage {
  const events: LedgerEvent[] = []
  let position = after
  const reached = (kind: keyof Parts): bigint => {
    const { rows, end } = parts[kind]
    return rows.length < limit ? later(end, after[kind]) : (rows.at(-1)?.sequence ?? after[kind])
  }

  let next = 0
  const accept = (upTo: bigint) => {
    const { rows } = parts.accepted
    for (let row = rows[next]; row !== undefined && row.sequence <= upTo; row = rows[++next]) {
      const { sequence, transactionId, at } = row
      position = { ...position, accepted: sequence }
      events.push({ type: 'accepted', position, transactionId, at })
    }
  }

  for (const { sequence, transactionId, ...row } of parts.rejected.rows) {
    position = { ...position, rejected: sequence }
    events.push({ type: 'rejected', position, ...row, ...(transactionId !== null && { transactionId }) })
  }
  const complete = reached('accepted') >= to.accepted
  let block = reached('block')
  for (const { sequence, lastSequence, commitTransactionId, mergeTransactionId, ...row } of parts.block
    .rows) {
    if (!complete && lastSequence > reached('accepted')) {
      block = position.block
      break
    }
    accept(lastSequence)
    position = { ...position, block: sequence }
    events.push({
      type: 'block',
      position,
      ...row,
      ...(commitTransactionId !== null && { commitTransactionId }),
      ...(mergeTransactionId !== null && { mergeTransactionId }),
    })
  }
  accept(reached('accepted'))
  for (const { sequence, headerHash, height, header, policy, fraud, ...row } of parts.verdict.rows) {
    position = { ...position, verdict: sequence }
    events.push({
      type: 'verdict',
      position,
      ...row,
      block: { headerHash, height, operatorKey: decodeHeader(header).operatorVkey },
      ...(policy !== null && fraud !== null && { proof: { policy, fraud } }),
    })
  }
  const [accepted, rejected, verdict] = [reached('accepted'), reached('rejected'), reached('verdict')]
  return { events, position: { accepted, rejected, block, verdict } }
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const earlier = (one: bigint, other: bigint): bigint => (one < other ? one : other)
