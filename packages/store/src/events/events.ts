import { decodeHeader } from '@ratatosk/block'
import {
  bytesColumn,
  type Columns,
  type Database,
  int8,
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
import { rejections } from '../schema/rejection-tables.js'
import { blockEvents } from '../schema/tables.js'
import { verdictEvents, verdicts as verdictTable } from '../schema/verdict-tables.js'
import { acceptances, acceptancesOfAddress, type acceptedRow, mostRead } from './acceptances.js'

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
  for (const { sequence, header, policy, fraud, ...row } of parts.verdict.rows) {
    position = { ...position, verdict: sequence }
    events.push({
      type: 'verdict',
      position,
      ...row,
      operatorKey: decodeHeader(header).operatorVkey,
      ...(policy !== null && { policy }),
      ...(fraud !== null && { fraud }),
    })
  }
  const [accepted, rejected, verdict] = [reached('accepted'), reached('rejected'), reached('verdict')]
  return { events, position: { accepted, rejected, block, verdict } }
}

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other)
const earlier = (one: bigint, other: bigint): bigint => (one < other ? one : other)
