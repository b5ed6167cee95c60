import {
  advisoryLock,
  bytea,
  bytesColumn,
  type Connection,
  type Database,
  int4,
  parameterRows,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { rejections } from '../schema/rejection-tables.js'
import { droppedTransactions } from '../schema/tables.js'
import type { Reopenable, Reopened } from './types.js'

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
export async function reopenable(database: Database): Promise<Reopenable[]> {
  while ((await database.execute(settle, [])) > 0);
  return database.query(page)
}

/** See `Rejections.reopened`. */
export async function noteReopened(database: Database, letters: readonly Reopened[]): Promise<void> {
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
