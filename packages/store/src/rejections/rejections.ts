import {
  advisoryLock,
  bool,
  type Database,
  int4,
  type Row,
  type Sql,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import { getTableColumns } from 'drizzle-orm'
import { StoreError } from '../errors.js'
import { rejectedSubmissions, rejectionUsage, rejections as table } from '../schema/rejection-tables.js'
import { submissionBytes } from './add-rejections.js'
import { addWithinLimit } from './add-within-limit.js'
import { pruneRejections } from './prune-rejections.js'
import { noteReopened, reopenable } from './reopen-rejections.js'
import type { Rejection, RejectionSummary, Rejections } from './types.js'

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
