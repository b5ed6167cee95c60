import {
  advisoryLock,
  bool,
  bytea,
  bytesColumn,
  type Connection,
  type Database,
  int4,
  parameterRows,
  type Row,
  type Sql,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import { getTableColumns } from 'drizzle-orm'
import { StoreError } from '../errors.js'
import {
  droppedTransactions,
  rejectedSubmissions,
  rejections,
  rejectionUsage,
  rejections as table,
} from '../schema/tables.js'
import type { Rejection, RejectionSummary, Rejections, Reopenable, Reopened } from './types.js'
import { addWithinLimit, pruneRejections, submissionBytes } from './write-rejections.js'

const maxPage = 1000

const { cbor, reasonBytes: _, ...columns } = getTableColumns(table)
const summaryRow = { ...columns, hasCbor: bool }
const summaryList = `${selectList(columns)}, cbor IS NOT NULL AS "hasCbor"`
const rejectionRow = { ...summaryRow, cbor }

const summaries = (rest: string) =>
  statement(summaryRow, sql`SELECT ${summaryList} FROM ${schema}.rejections ${rest}`)
const newest = summaries('ORDER BY sequence DESC LIMIT $1')
const older = summaries('WHERE sequence < $2 ORDER BY sequence DESC LIMIT $1')

const ofSubmission = sql`(SELECT digest FROM ${schema}.rejected_submissions WHERE submission_id = $1)`
const one = (rest: Sql | string) =>
  statement(rejectionRow, sql`SELECT ${summaryList}, cbor FROM ${schema}.rejections ${rest}`)
const bySubmission = one(sql`WHERE digest = ${ofSubmission}`)
const byTransaction = one('WHERE transaction_id = $1 ORDER BY sequence DESC LIMIT 1')

const rejectedAmong = statement(
  { submissionId: rejectedSubmissions.submissionId },
  sql`SELECT submission_id AS "submissionId" FROM ${schema}.rejected_submissions
    WHERE submission_id = ANY($1::text[])`,
)

const markReplayed = sql`
  UPDATE ${schema}.rejections SET replayed_at = clock_timestamp(), replayed_as = $2
    WHERE digest = ${ofSubmission}`

// Submissions of the same bytes other than these two stay until retention forgets them: nothing refers to
// them.
const remove = statement(
  { removed: int4 },
  sql`WITH letter AS (
    DELETE FROM ${schema}.rejections WHERE digest = ${ofSubmission}
    RETURNING submission_id, reason_bytes, CASE WHEN cbor IS NULL THEN 0 ELSE cbor_bytes END AS cbor_bytes
  ), submissions AS (
    DELETE FROM ${schema}.rejected_submissions AS s
    USING letter WHERE s.submission_id = $1 OR s.submission_id = letter.submission_id
    RETURNING ${submissionBytes} AS bytes
  ), used AS (
    UPDATE ${schema}.rejection_usage AS usage
    SET cbor_bytes = usage.cbor_bytes - letter.cbor_bytes,
      reason_bytes = usage.reason_bytes - letter.reason_bytes - (SELECT sum(bytes) FROM submissions)
    FROM letter
    WHERE usage.id = 1
  )
  SELECT count(*)::integer AS removed FROM letter`,
)

const usageRow = { cborBytes: rejectionUsage.cborBytes, reasonBytes: rejectionUsage.reasonBytes }
const usage = statement(
  usageRow,
  sql`SELECT ${selectList(usageRow)} FROM ${schema}.rejection_usage WHERE id = 1`,
)

/** The {@link Rejections} of a schema. `maxBytes` undefined: no limit. */
export function openRejections(database: Database, maxBytes?: number): Rejections {
  return {
    add: (rejections) =>
      database.transaction((transaction) => addWithinLimit(transaction, rejections, maxBytes)),

    async list({ limit = 100, before } = {}) {
      if (!Number.isInteger(limit) || limit < 1 || limit > maxPage) {
        throw new StoreError('STORE_INVALID_ARGUMENT', `A page must have 1 to ${maxPage} rejections`)
      }
      const rows =
        before === undefined
          ? await database.query(newest, [limit])
          : await database.query(older, [limit, before])
      return rows.map(toSummary)
    },

    async find(submissionId) {
      const [row] = await database.query(bySubmission, [submissionId])
      return row && toRejection(row)
    },

    async rejected(submissionIds) {
      if (submissionIds.length === 0) return []
      const rows = await database.query(rejectedAmong, [submissionIds])
      return rows.map(({ submissionId }) => submissionId)
    },

    async findTransaction(transactionId) {
      const [row] = await database.query(byTransaction, [transactionId])
      return row && toRejection(row)
    },

    async markReplayed(submissionId, as) {
      return (await database.execute(markReplayed, [submissionId, as])) > 0
    },

    remove: (submissionId) =>
      database.transaction(async (transaction) => {
        await advisoryLock(transaction, 'rejections')
        const [result] = await transaction.query(remove, [submissionId])
        return result !== undefined && result.removed > 0
      }),

    prune: (retention) => pruneRejections(database, retention),
    reopenable: () => reopenable(database),
    reopened: (letters) => noteReopened(database, letters),

    async usage() {
      const [row] = await database.query(usage)
      return { cborBytes: Number(row?.cborBytes ?? 0), reasonBytes: Number(row?.reasonBytes ?? 0) }
    },
  }
}

function toSummary(row: Row<typeof summaryRow>): RejectionSummary {
  const { transactionId, spentBy, replayedAt, replayedAs, reopenedAt, ...rejection } = row
  return {
    ...rejection,
    ...(transactionId !== null && { transactionId }),
    ...(spentBy !== null && { spentBy }),
    ...(reopenedAt !== null && { reopenedAt }),
    ...(replayedAt !== null &&
      replayedAs !== null && { replayed: { submissionId: replayedAs, at: replayedAt } }),
  }
}

function toRejection({ cbor, ...row }: Row<typeof rejectionRow>): Rejection {
  return { ...toSummary(row), ...(cbor !== null && { cbor }) }
}

/** Transactions that left the ledger, looked through at a time. */
const step = 1_000
/** Dead letters that are read at a time: at most 1.6 MB of CBOR. */
const pageSize = 100

/** The oldest transactions that left the ledger and are not settled. */
const gone = sql`(
  SELECT number, sequence, transaction_id FROM ${schema}.dropped_transactions
  WHERE reopenings > 0 ORDER BY number LIMIT ${step}
)`
const letterOfGone = 'letter.spent_by = gone.transaction_id AND letter.cbor IS NOT NULL'

// Nothing rests on most transactions. Those that are in the ledger again spend the same inputs again.
const settle = sql`
  WITH gone AS MATERIALIZED ${gone}
  UPDATE ${schema}.dropped_transactions AS dropped SET reopenings = 0
  FROM gone
  WHERE dropped.number = gone.number AND (
    NOT EXISTS (SELECT FROM ${schema}.rejections AS letter WHERE ${letterOfGone})
    OR EXISTS (SELECT FROM ${schema}.mempool_transactions AS t WHERE t.transaction_id = gone.transaction_id)
    OR EXISTS (SELECT FROM ${schema}.block_transactions AS t WHERE t.transaction_id = gone.transaction_id)
  )`

// A transaction of a removed block is validated again, and before what had lost against it. Should the queue
// have lost it, this waits no longer than an hour.
const page = statement(
  {
    number: droppedTransactions.number,
    digest: rejections.digest,
    sequence: rejections.sequence,
    cbor: bytea,
  },
  sql`SELECT gone.number, letter.digest, letter.sequence, letter.cbor
  FROM ${gone} AS gone
  CROSS JOIN LATERAL (
    SELECT digest, sequence, cbor FROM ${schema}.rejections AS letter
    WHERE ${letterOfGone} ORDER BY sequence LIMIT ${pageSize}
  ) AS letter
  WHERE NOT EXISTS (
    SELECT FROM ${schema}.resubmissions AS back
    WHERE back.sequence = gone.sequence AND (back.cbor IS NOT NULL
      OR (back.queued_at > clock_timestamp() - interval '1 hour' AND NOT EXISTS (
        SELECT FROM ${schema}.rejected_submissions AS s WHERE s.submission_id = back.submission_id
      )))
  )
  LIMIT ${pageSize}`,
)

const note = statement(
  { noted: int4 },
  sql`WITH given AS MATERIALIZED (
    SELECT * FROM ${parameterRows({
      number: 'bigint',
      digest: 'bytea',
      sequence: 'bigint',
      submission_id: 'text',
    })} AS given
  ), letters AS (
    UPDATE ${schema}.rejections AS letter
    SET spent_by = NULL, reopened_at = clock_timestamp(), replayed_at = clock_timestamp(),
      replayed_as = given.submission_id
    FROM given WHERE letter.digest = given.digest AND letter.sequence = given.sequence
    RETURNING letter.digest
  ), used AS (
    UPDATE ${schema}.dropped_transactions AS dropped
    SET reopenings = GREATEST(dropped.reopenings - taken.letters, 0)
    FROM (SELECT number, count(*)::integer AS letters FROM given GROUP BY number) AS taken
    WHERE dropped.number = taken.number
  )
  SELECT count(*)::integer AS noted FROM letters`,
)

/** See `Rejections.reopenable`. */
async function reopenable(database: Database): Promise<Reopenable[]> {
  while ((await database.execute(settle, [])) > 0);
  return database.query(page)
}

/** See `Rejections.reopened`. */
async function noteReopened(database: Database, letters: readonly Reopened[]): Promise<void> {
  if (letters.length === 0) return
  await database.transaction(async (transaction) => {
    await advisoryLock(transaction, 'rejections')
    await transaction.query(note, [
      letters.map(({ number }) => String(number)),
      bytesColumn(letters.map(({ digest }) => digest)),
      letters.map(({ sequence }) => String(sequence)),
      letters.map(({ submissionId }) => submissionId),
    ])
  })
}

const forget = sql`UPDATE ${schema}.rejections SET spent_by = NULL, reopened_at = NULL
  WHERE spent_by IS NOT NULL OR reopened_at IS NOT NULL`

/** Forgets what rejections rest on, in a transaction that empties the ledger. */
export async function forgetSpenders(transaction: Connection): Promise<void> {
  await advisoryLock(transaction, 'rejections')
  await transaction.execute(forget)
}
