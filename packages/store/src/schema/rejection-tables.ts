import type { Json } from '@ratatosk/ledger'
import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, json, text } from 'drizzle-orm/pg-core'
import { bytea, moment, ratatosk } from './columns.js'

/** Numbers rejections in order. Gaps have no meaning. */
export const rejectionSequence = ratatosk.sequence('rejection_sequence')

/** Dead letters: submissions that validation has finally rejected; one row for the same bytes. */
export const rejections = ratatosk.table(
  'rejections',
  {
    /** SHA-256 of the submitted bytes. */
    digest: bytea('digest').primaryKey(),
    /** Of the newest rejection of these bytes: its sequence, the submission's id, and so on. */
    sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
    submissionId: text('submission_id').notNull(),
    transactionId: bytea('transaction_id'),
    /** NULL after retention has dropped it. */
    cbor: bytea('cbor'),
    cborBytes: integer('cbor_bytes').notNull(),
    /** Retention counts this for the rest of the row. */
    reasonBytes: integer('reason_bytes').notNull(),
    attempts: integer('attempts').notNull(),
    code: text('code').notNull(),
    message: text('message').notNull(),
    /** `json`, not `jsonb`: a script's trace may contain U+0000, which `jsonb` refuses. */
    details: json('details').$type<Json>().notNull(),
    submittedAt: moment('submitted_at').notNull(),
    rejectedAt: moment('rejected_at').notNull(),
    firstRejectedAt: moment('first_rejected_at').notNull(),
    /** How many submissions of these bytes were rejected. */
    count: integer('count').notNull(),
    replayedAt: moment('replayed_at'),
    /** The submission that replays these bytes. */
    replayedAs: text('replayed_as'),
    /** The accepted transaction that spends an input, if the rejection rests on nothing else. */
    spentBy: bytea('spent_by'),
    /** When these bytes were submitted again because the spender had left the ledger. */
    reopenedAt: moment('reopened_at'),
  },
  (table) => [
    index('rejections_transaction_id')
      .on(table.transactionId, table.sequence)
      .where(sql`${table.transactionId} IS NOT NULL`),
    // Rejections that can be reopened once their spender has left the ledger.
    index('rejections_spent_by')
      .on(table.spentBy, table.sequence)
      .where(sql`${table.spentBy} IS NOT NULL AND ${table.cbor} IS NOT NULL`),
    // The order in which retention drops CBOR: what does not decode first.
    index('rejections_cbor')
      .on(sql`(${table.transactionId} IS NOT NULL)`, table.sequence)
      .where(sql`${table.cbor} IS NOT NULL`),
  ],
)

/** Which bytes each rejected submission had. */
export const rejectedSubmissions = ratatosk.table('rejected_submissions', {
  submissionId: text('submission_id').primaryKey(),
  sequence: bigint('sequence', { mode: 'bigint' }).notNull().unique(),
  digest: bytea('digest').notNull(),
  rejectedAt: moment('rejected_at').notNull(),
})

/** One row: the bytes that dead letters take, kept up to date by everything that writes them. */
export const rejectionUsage = ratatosk.table(
  'rejection_usage',
  {
    id: integer('id').primaryKey().default(1),
    cborBytes: bigint('cbor_bytes', { mode: 'bigint' }).notNull(),
    reasonBytes: bigint('reason_bytes', { mode: 'bigint' }).notNull(),
  },
  (table) => [check('rejection_usage_once', sql`${table.id} = 1`)],
)
