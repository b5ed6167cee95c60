import { bytesColumn, rowsOf } from '../drivers/columns.js'
import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import type { rejections as table } from '../schema/tables.js'
import type { Rejection, Rejections, RejectionWriter } from '../types.js'

const largestPage = 1000

type RejectionRow = typeof table.$inferSelect

export function rejectionWriter(connection: Connection, schema: string): RejectionWriter {
  const columns = {
    submission_id: 'text',
    transaction_id: 'bytea',
    cbor: 'bytea',
    attempts: 'integer',
    code: 'text',
    message: 'text',
    details: 'text',
    submitted_at: 'timestamptz',
  } as const
  const add = `
    WITH added AS (
      INSERT INTO ${schema}.rejections
        (submission_id, transaction_id, cbor, attempts, code, message, details, submitted_at)
      SELECT submission_id, transaction_id, cbor, attempts, code, message, details::json, submitted_at
      FROM ${rowsOf(columns)} AS r
      ORDER BY position
      ON CONFLICT (submission_id) DO NOTHING
      RETURNING 1
    )
    SELECT count(*)::integer AS added FROM added`
  return {
    async add(rejections) {
      if (rejections.length === 0) return 0
      const [result] = await connection.query<{ added: number }>(add, [
        rejections.map(({ submissionId }) => submissionId),
        bytesColumn(rejections.map(({ transactionId }) => transactionId)),
        bytesColumn(rejections.map(({ cbor }) => cbor)),
        rejections.map(({ attempts }) => attempts),
        rejections.map(({ code }) => code),
        rejections.map(({ message }) => storable(message)),
        rejections.map(({ details }) => JSON.stringify(details)),
        rejections.map(({ submittedAt }) => submittedAt),
      ])
      return result?.added ?? 0
    },
  }
}

export function openRejections(connection: Connection, schema: string): Rejections {
  const select = `
    SELECT sequence, submission_id AS "submissionId", transaction_id AS "transactionId", cbor, attempts, code, message,
      details, submitted_at AS "submittedAt", rejected_at AS "rejectedAt"
    FROM ${schema}.rejections`
  const newest = `${select} ORDER BY sequence DESC LIMIT $1`
  const older = `${select} WHERE sequence < $2 ORDER BY sequence DESC LIMIT $1`
  const one = `${select} WHERE submission_id = $1`
  const remove = `DELETE FROM ${schema}.rejections WHERE submission_id = $1 RETURNING sequence`
  return {
    ...rejectionWriter(connection, schema),

    async list({ limit = 100, before } = {}) {
      if (!Number.isInteger(limit) || limit < 1 || limit > largestPage) {
        throw new StoreError('STORE_INVALID_ARGUMENT', `A page of rejections has 1 to ${largestPage}`)
      }
      const rows =
        before === undefined
          ? await connection.query<RejectionRow>(newest, [limit])
          : await connection.query<RejectionRow>(older, [limit, before])
      return rows.map(toRejection)
    },

    async find(submissionId) {
      const [row] = await connection.query<RejectionRow>(one, [submissionId])
      return row && toRejection(row)
    },

    async remove(submissionId) {
      return (await connection.query(remove, [submissionId])).length > 0
    },
  }
}

function toRejection({ transactionId, ...row }: RejectionRow): Rejection {
  return transactionId === null ? row : { ...row, transactionId }
}

/** PostgreSQL's text holds every character but U+0000, which the trace of a script may have. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
