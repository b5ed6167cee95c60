import {
  advisoryLock,
  bool,
  type Connection,
  type Database,
  int4,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { submissionBytes } from './add-rejections.js'
import type { Pruned, Retention } from './types.js'

/** Rows that one transaction changes at most. */
const step = 1_000

const due = statement(
  { due: bool },
  sql`SELECT usage.cbor_bytes + usage.reason_bytes > $2::bigint OR usage.reason_bytes > $2::bigint / 2
    OR COALESCE(
      (SELECT rejected_at FROM ${schema}.rejected_submissions ORDER BY sequence LIMIT 1)
        < clock_timestamp() - $1::bigint * interval '1 millisecond',
      false
    ) AS due
  FROM ${schema}.rejection_usage AS usage WHERE usage.id = 1`,
)

// The oldest submissions, with the dead letter of those that are the newest submission of their bytes.
// `before` sums up what the rows before this one free.
const forgetSubmissions = statement(
  { forgotten: int4 },
  sql`WITH oldest AS MATERIALIZED (
    SELECT s.sequence, s.rejected_at, ${submissionBytes} + COALESCE(r.reason_bytes, 0) AS reason_bytes,
      CASE WHEN r.cbor IS NULL THEN 0 ELSE r.cbor_bytes END AS cbor_bytes
    FROM (SELECT * FROM ${schema}.rejected_submissions ORDER BY sequence LIMIT ${step}) AS s
    LEFT JOIN ${schema}.rejections AS r ON r.sequence = s.sequence
  ), due AS MATERIALIZED (
    SELECT counted.*
    FROM (SELECT *, sum(reason_bytes) OVER (ORDER BY sequence) - reason_bytes AS before
      FROM oldest) AS counted,
      ${schema}.rejection_usage AS usage
    WHERE usage.id = 1
      AND (rejected_at < clock_timestamp() - $1::bigint * interval '1 millisecond'
        OR before < usage.reason_bytes - $2::bigint / 2)
  ), submissions AS (
    DELETE FROM ${schema}.rejected_submissions AS s USING due WHERE s.sequence = due.sequence
  ), letters AS (
    DELETE FROM ${schema}.rejections AS r USING due WHERE r.sequence = due.sequence
  ), used AS (
    UPDATE ${schema}.rejection_usage AS usage
    SET cbor_bytes = usage.cbor_bytes - freed.cbor_bytes,
      reason_bytes = usage.reason_bytes - freed.reason_bytes
    FROM (SELECT sum(cbor_bytes) AS cbor_bytes, sum(reason_bytes) AS reason_bytes FROM due) AS freed
    WHERE usage.id = 1 AND freed.reason_bytes IS NOT NULL
  )
  SELECT count(*)::integer AS forgotten FROM due`,
)

const dropCbor = statement(
  { dropped: int4 },
  sql`WITH oldest AS MATERIALIZED (
    SELECT digest, sequence, transaction_id IS NOT NULL AS decodes, cbor_bytes
    FROM ${schema}.rejections WHERE cbor IS NOT NULL
    ORDER BY (transaction_id IS NOT NULL), sequence LIMIT ${step}
  ), due AS MATERIALIZED (
    SELECT counted.*
    FROM (SELECT *, sum(cbor_bytes) OVER (ORDER BY decodes, sequence) - cbor_bytes AS before
      FROM oldest) AS counted,
      ${schema}.rejection_usage AS usage
    WHERE usage.id = 1 AND before < usage.cbor_bytes + usage.reason_bytes - $1::bigint
  ), letters AS (
    UPDATE ${schema}.rejections AS r SET cbor = NULL FROM due WHERE r.digest = due.digest
  ), used AS (
    UPDATE ${schema}.rejection_usage AS usage SET cbor_bytes = usage.cbor_bytes - freed.cbor_bytes
    FROM (SELECT sum(cbor_bytes) AS cbor_bytes FROM due) AS freed
    WHERE usage.id = 1 AND freed.cbor_bytes IS NOT NULL
  )
  SELECT count(*)::integer AS dropped FROM due`,
)

/** Applies the retention of dead letters; see `Rejections.prune`. */
export async function pruneRejections(
  database: Database,
  { maxAgeMs, maxBytes }: Retention,
): Promise<Pruned> {
  const retention = [checked(maxAgeMs), checked(maxBytes)]
  let cborDropped = 0
  let submissionsForgotten = 0
  for (;;) {
    const [state] = await database.query(due, retention)
    if (state?.due !== true) break
    const done = await database.transaction(async (transaction) => {
      await advisoryLock(transaction, 'rejections')
      return pruneStep(transaction, retention, maxBytes)
    })
    submissionsForgotten += done.forgotten
    cborDropped += done.dropped
    if (done.forgotten + done.dropped === 0) break
  }
  if (cborDropped + submissionsForgotten > 0) {
    await database.vacuum('rejections', 'rejected_submissions')
  }
  return { cborDropped, submissionsForgotten }
}

/** No dead letter is older, in milliseconds: a hundred years. */
const anyAge = 3_153_600_000_000

/** Prunes to so many bytes, in a transaction that holds the lock of the rejections. */
export async function pruneToBytes(transaction: Connection, maxBytes: number): Promise<void> {
  const retention = [anyAge, checked(maxBytes)]
  for (;;) {
    const [state] = await transaction.query(due, retention)
    if (state?.due !== true) return
    const { forgotten, dropped } = await pruneStep(transaction, retention, maxBytes)
    if (forgotten + dropped === 0) return
  }
}

async function pruneStep(
  transaction: Connection,
  retention: readonly number[],
  maxBytes: number,
): Promise<{ forgotten: number; dropped: number }> {
  const [submissions] = await transaction.query(forgetSubmissions, retention)
  const forgotten = submissions?.forgotten ?? 0
  // Forgetting a row removes its CBOR too, so CBOR is dropped only when nothing is left to forget.
  if (forgotten === step) return { forgotten, dropped: 0 }
  const [letters] = await transaction.query(dropCbor, [maxBytes])
  return { forgotten, dropped: letters?.dropped ?? 0 }
}

function checked(number: number): number {
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new StoreError('STORE_INVALID_ARGUMENT', 'A retention must consist of whole numbers from 0')
}
