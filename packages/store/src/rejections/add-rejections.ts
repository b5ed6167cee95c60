import {
  advisoryLock,
  bytesColumn,
  type Connection,
  int4,
  parameterRows,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { Json } from '@ratatosk/ledger'
import { StoreError } from '../errors.js'
import type { NewRejection, TruncatedDetails } from './types.js'

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
