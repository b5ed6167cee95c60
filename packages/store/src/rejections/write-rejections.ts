import {
  advisoryLock,
  bool,
  bytesColumn,
  type Connection,
  type Database,
  int4,
  parameterRows,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { Json } from '@ratatosk/ledger'
import { StoreError } from '../errors.js'
import type { NewRejection, Pruned, Retention, TruncatedDetails } from './types.js'

/** The most characters of a message that are kept. */
const maxMessage = 1_000
/** The most bytes of details that are kept. */
const maxDetails = 4_096
const keptOfLongDetails = 1_024

/** The first half of a surrogate pair that was cut. */
const halfOfPair = /[\uD800-\uDBFF]$/

/** Bytes that retention counts for a rejected submission: the row `s` with its index entries. */
export const submissionBytes = '(octet_length(s.submission_id) + 150)'

/** Bytes that retention counts for a dead letter beside its texts: the fixed columns and index entries. */
const fixedBytes = 200

const columns = {
  submission_id: 'text',
  transaction_id: 'bytea',
  cbor: 'bytea',
  attempts: 'integer',
  code: 'text',
  message: 'text',
  details: 'text',
  submitted_at: 'timestamptz',
  spent_by: 'bytea',
} as const

// Runs under the lock of the rejections, so `before` is exact. CBOR that retention has dropped comes back
// with a new submission of the same bytes, except for bytes that do not decode: those cannot be replayed.
const add = statement(
  { added: int4 },
  sql`WITH given AS MATERIALIZED (
    SELECT DISTINCT ON (submission_id) r.*, sha256(cbor) AS digest,
      ${fixedBytes} + octet_length(code) + octet_length(message) + octet_length(details)
        + COALESCE(3 * octet_length(spent_by), 0) AS reason_bytes
    FROM ${parameterRows(columns)} AS r
    ORDER BY submission_id, position
  ), fresh AS MATERIALIZED (
    SELECT unknown.*, nextval('${schema}.rejection_sequence') AS sequence, clock_timestamp() AS rejected_at
    FROM (
      SELECT * FROM given
      WHERE NOT EXISTS (SELECT FROM ${schema}.rejected_submissions AS s
        WHERE s.submission_id = given.submission_id)
      ORDER BY position
    ) AS unknown
  ), submissions AS (
    INSERT INTO ${schema}.rejected_submissions (submission_id, sequence, digest, rejected_at)
    SELECT submission_id, sequence, digest, rejected_at FROM fresh
  ), newest AS MATERIALIZED (
    SELECT DISTINCT ON (digest) *, (count(*) OVER same)::integer AS count,
      min(rejected_at) OVER same AS first_rejected_at
    FROM fresh
    WINDOW same AS (PARTITION BY digest)
    ORDER BY digest, sequence DESC
  ), before AS MATERIALIZED (
    SELECT r.cbor IS NOT NULL AS has_cbor, r.cbor_bytes, r.reason_bytes
    FROM newest JOIN ${schema}.rejections AS r USING (digest)
  ), after AS (
    INSERT INTO ${schema}.rejections AS r
      (digest, sequence, submission_id, transaction_id, cbor, cbor_bytes, reason_bytes, attempts,
        code, message,
        details, submitted_at, rejected_at, first_rejected_at, count, spent_by)
    SELECT digest, sequence, submission_id, transaction_id, cbor, octet_length(cbor), reason_bytes,
      attempts, code,
      message, details::json, submitted_at, rejected_at, first_rejected_at, count, spent_by
    FROM newest
    ON CONFLICT (digest) DO UPDATE
    SET sequence = excluded.sequence, submission_id = excluded.submission_id,
      reason_bytes = excluded.reason_bytes,
      cbor = CASE WHEN r.cbor IS NULL AND excluded.transaction_id IS NOT NULL
        THEN excluded.cbor ELSE r.cbor END,
      attempts = excluded.attempts, code = excluded.code, message = excluded.message,
        details = excluded.details,
      submitted_at = excluded.submitted_at, rejected_at = excluded.rejected_at,
      spent_by = excluded.spent_by, reopened_at = NULL,
      count = LEAST(r.count::bigint + excluded.count, 2147483647)::integer
    RETURNING cbor IS NOT NULL AS has_cbor, cbor_bytes, reason_bytes
  ), change AS (
    SELECT
      COALESCE((SELECT sum(cbor_bytes) FROM after WHERE has_cbor), 0)
        - COALESCE((SELECT sum(cbor_bytes) FROM before WHERE has_cbor), 0) AS cbor_bytes,
      COALESCE((SELECT sum(reason_bytes) FROM after), 0) - COALESCE((SELECT sum(reason_bytes) FROM before), 0)
        + COALESCE((SELECT sum(${submissionBytes}) FROM fresh AS s), 0) AS reason_bytes
  ), used AS (
    UPDATE ${schema}.rejection_usage AS usage
    SET cbor_bytes = usage.cbor_bytes + change.cbor_bytes,
      reason_bytes = usage.reason_bytes + change.reason_bytes
    FROM change
    WHERE usage.id = 1
  )
  SELECT count(*)::integer AS added FROM fresh`,
)

/** Adds rejections in a transaction; see `RejectionWriter.add`. */
export async function addRejections(
  transaction: Connection,
  rejections: readonly NewRejection[],
): Promise<number> {
  if (rejections.length === 0) return 0
  if (rejections.some(({ cbor }) => cbor.length === 0))
    throw new StoreError('STORE_INVALID_ARGUMENT', 'A rejection has no bytes')
  await advisoryLock(transaction, 'rejections')
  const [result] = await transaction.query(add, [
    rejections.map(({ submissionId }) => submissionId),
    bytesColumn(rejections.map(({ transactionId }) => transactionId)),
    bytesColumn(rejections.map(({ cbor }) => cbor)),
    rejections.map(({ attempts }) => attempts),
    rejections.map(({ code }) => code),
    rejections.map(({ message }) => storable(message)),
    rejections.map(({ details }) => JSON.stringify(capped(details))),
    rejections.map(({ submittedAt }) => submittedAt),
    bytesColumn(rejections.map(({ spentBy }) => spentBy)),
  ])
  return result?.added ?? 0
}

/** PostgreSQL's text holds every character except U+0000, which a script's trace may contain. */
function storable(message: string): string {
  const text =
    message.length <= maxMessage ? message : `${message.slice(0, maxMessage).replace(halfOfPair, '')}…`
  return text.replaceAll('\0', '\uFFFD')
}

function capped(details: Json): Json {
  const json = Buffer.from(JSON.stringify(details))
  if (json.length <= maxDetails) return details
  const kept: TruncatedDetails = {
    truncated: true,
    bytes: json.length,
    beginning: json.toString('utf8', 0, keptOfLongDetails),
  }
  return { ...kept }
}

/** Adds rejections and prunes down to `maxBytes` (undefined: no limit) in one transaction. */
export async function addWithinLimit(
  transaction: Connection,
  rejections: readonly NewRejection[],
  maxBytes: number | undefined,
): Promise<number> {
  const added = await addRejections(transaction, rejections)
  if (rejections.length > 0 && maxBytes !== undefined) await pruneToBytes(transaction, maxBytes)
  return added
}

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
async function pruneToBytes(transaction: Connection, maxBytes: number): Promise<void> {
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
