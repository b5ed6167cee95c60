import { bytea, type Database, schema, selectList, sql, statement } from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { resubmissions } from '../schema/tables.js'
import type { Removal, Resubmissions } from './types.js'

const { sequence, transactionId, headerHash, height, removedAt, submissionId } = resubmissions

const waiting = statement(
  { sequence, id: transactionId, cbor: bytea },
  sql`SELECT ${selectList({ sequence, id: transactionId })}, cbor
  FROM ${schema}.resubmissions WHERE cbor IS NOT NULL ORDER BY sequence LIMIT $1`,
)

const queued = sql`
  UPDATE ${schema}.resubmissions AS waiting
  SET cbor = NULL, submission_id = given.submission_id, queued_at = clock_timestamp()
  FROM unnest($1::bigint[], $2::text[]) AS given (sequence, submission_id)
  WHERE waiting.sequence = given.sequence AND waiting.cbor IS NOT NULL`

const removal = { headerHash, height, removedAt, submissionId }
const ofTransaction = statement(
  removal,
  sql`SELECT ${selectList(removal)} FROM ${schema}.resubmissions WHERE transaction_id = $1
    ORDER BY sequence DESC`,
)

const forget = sql`DELETE FROM ${schema}.resubmissions WHERE cbor IS NULL AND queued_at < $1::timestamptz`

export function openResubmissions(database: Database): Resubmissions {
  return {
    async waiting(limit) {
      if (!Number.isSafeInteger(limit) || limit < 1)
        throw new StoreError('STORE_INVALID_ARGUMENT', 'The limit must be a whole number from 1')
      return database.query(waiting, [limit])
    },

    async queued(transactions) {
      if (transactions.length === 0) return
      await database.execute(queued, [
        transactions.map((each) => String(each.sequence)),
        transactions.map((each) => each.submissionId),
      ])
    },

    async ofTransaction(id) {
      const rows = await database.query(ofTransaction, [id])
      return rows.map(
        (row): Removal => ({
          ...(row.headerHash !== null &&
            row.height !== null && { block: { headerHash: row.headerHash, height: row.height } }),
          removedAt: row.removedAt,
          ...(row.submissionId !== null && { submissionId: row.submissionId }),
        }),
      )
    },

    forget: (queuedBefore) => database.execute(forget, [queuedBefore.toISOString()]),
  }
}
