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
import { blockEvents, mempoolTransactions } from '../schema/tables.js'
import { verdictEvents, verdicts as verdictTable } from '../schema/verdict-tables.js'

const maxPage = 1_000

const head = statement(
  { accepted: int8, rejected: int8, block: int8, verdict: int8 },
  sql`SELECT
    GREATEST(
      (SELECT max(sequence) FROM ${schema}.mempool_transactions),
      (SELECT max(sequence) FROM ${schema}.block_transactions),
      0
    ) AS accepted,
    COALESCE((SELECT max(sequence) FROM ${schema}.rejected_submissions), 0) AS rejected,
    COALESCE((SELECT max(sequence) FROM ${schema}.block_events), 0) AS block,
    COALESCE((SELECT max(sequence) FROM ${schema}.verdict_events), 0) AS verdict`,
)

// Parameters of all statements below: after, to, limit, and what the filter names.

const acceptedRow = {
  sequence: mempoolTransactions.sequence,
  transactionId: mempoolTransactions.transactionId,
  at: mempoolTransactions.acceptedAt,
}
const accepted = (condition: Sql | string = 'true') => {
  const part = (table: string) => sql`(
    SELECT sequence, transaction_id, accepted_at FROM ${schema}.${table}
    WHERE sequence > $1 AND sequence <= $2 AND ${condition} ORDER BY sequence LIMIT $3)`
  return statement(
    acceptedRow,
    sql`SELECT sequence, transaction_id AS "transactionId", accepted_at AS at
    FROM (${part('mempool_transactions')} UNION ALL ${part('block_transactions')}) AS either
    ORDER BY sequence LIMIT $3`,
  )
}

const givenIds = `(SELECT decode(id, 'hex') FROM unnest(string_to_array($4::text, ',')) AS id)`
const ofAddress = sql`(
  SELECT sequence FROM ${schema}.address_history
  WHERE address = $4 AND sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3)`

const acceptances = {
  all: accepted(),
  transactions: accepted(`transaction_id IN ${givenIds}`),
  address: accepted(sql`sequence IN ${ofAddress}`),
}

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
  sql`SELECT sequence, submission_id AS "submissionId", transaction_id AS "transactionId", code, message,
    rejected_at AS at
  FROM ${schema}.rejections
  WHERE transaction_id IN ${givenIds} AND sequence > $1 AND sequence <= $2
  ORDER BY sequence LIMIT $3`,
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
const blockStates = (condition: Sql | string = 'true') =>
  statement(
    blockRow,
    sql`SELECT sequence, header_hash AS "headerHash", height, state, transactions,
      last_sequence AS "lastSequence",
      end_time AS "endTime", commit_transaction_id AS "commitTransactionId",
      merge_transaction_id AS "mergeTransactionId", at
    FROM ${schema}.block_events AS event
    WHERE sequence > $1 AND sequence <= $2 AND ${condition} ORDER BY sequence LIMIT $3`,
  )

const blocks = {
  all: blockStates(),
  headerHash: blockStates('header_hash = $4'),
  address: blockStates(sql`EXISTS (
    SELECT FROM ${schema}.address_history AS history
    WHERE history.address = $4 AND history.sequence BETWEEN event.first_sequence AND event.last_sequence)`),
  transactions: blockStates(sql`EXISTS (
    SELECT FROM (
      SELECT sequence FROM ${schema}.mempool_transactions WHERE transaction_id IN ${givenIds}
      UNION ALL
      SELECT sequence FROM ${schema}.block_transactions WHERE transaction_id IN ${givenIds}
      UNION ALL
      SELECT sequence FROM ${schema}.resubmissions WHERE transaction_id IN ${givenIds}
    ) AS asked
    WHERE asked.sequence BETWEEN event.first_sequence AND event.last_sequence)`),
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

/** The {@link EventLog} of a schema. */
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
      ): Promise<Row<S>[]> => {
        const [after, to] = [range.after[type], range.to[type]]
        if (statement === undefined || to <= after || !wants(type)) return []
        return queryInIndexOrder(database, statement, [after, to, limit, ...values])
      }
      return inOrder(range, {
        accepted: await read('accepted', kind === 'headerHash' ? undefined : acceptances[kind]),
        rejected: await read(
          'rejected',
          {
            all: everyRejection,
            transactions: rejectionsOfTransactions,
            address: undefined,
            headerHash: undefined,
          }[kind],
        ),
        block: await read('block', blocks[kind]),
        verdict: await read('verdict', verdicts[kind]),
      })
    },
  }
}

/** What a filter names, as the parameter of the statements. */
function chosen({ transactions, address, headerHash }: EventFilter): {
  readonly kind: keyof typeof blocks
  readonly values: readonly Parameter[]
} {
  if (transactions !== undefined) return { kind: 'transactions', values: [bytesColumn(transactions)] }
  if (address !== undefined) return { kind: 'address', values: [address] }
  if (headerHash !== undefined) return { kind: 'headerHash', values: [headerHash] }
  return { kind: 'all', values: [] }
}

interface Rows {
  readonly accepted: readonly Row<typeof acceptedRow>[]
  readonly rejected: readonly Row<typeof rejectedRow>[]
  readonly block: readonly Row<typeof blockRow>[]
  readonly verdict: readonly Row<typeof verdictRow>[]
}

/**
 * Puts a block's states after the acceptances of its transactions. If the page does not reach them, the
 * states wait for a later page.
 */
function inOrder({ after, to, limit }: EventRange, rows: Rows): EventPage {
  const events: LedgerEvent[] = []
  let position = after
  const reached = (kind: keyof Rows): bigint =>
    rows[kind].length < limit ? later(to[kind], after[kind]) : (rows[kind].at(-1)?.sequence ?? after[kind])

  let next = 0
  const accept = (upTo: bigint) => {
    for (
      let row = rows.accepted[next];
      row !== undefined && row.sequence <= upTo;
      row = rows.accepted[++next]
    ) {
      const { sequence, transactionId, at } = row
      position = { ...position, accepted: sequence }
      events.push({ type: 'accepted', position, transactionId, at })
    }
  }

  for (const { sequence, transactionId, ...row } of rows.rejected) {
    position = { ...position, rejected: sequence }
    events.push({ type: 'rejected', position, ...row, ...(transactionId !== null && { transactionId }) })
  }
  const complete = rows.accepted.length < limit
  let block = reached('block')
  for (const { sequence, lastSequence, commitTransactionId, mergeTransactionId, ...row } of rows.block) {
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
  for (const { sequence, header, policy, fraud, ...row } of rows.verdict) {
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

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
