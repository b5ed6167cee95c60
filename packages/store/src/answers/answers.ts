import {
  bytesColumn,
  type Database,
  parameterRows,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import type { Layer1Transaction } from '../blocks/types.js'
import { type Lease, requireLease } from '../leases/leases.js'
import { answers } from '../schema/tables.js'

const { question, stage, transactionId, cbor } = answers
const stages: readonly AnswerStage[] = ['datum', 'answer']

const columns = { question, stage, id: transactionId, cbor }
const ofQuestions = statement(
  columns,
  sql`SELECT ${selectList(columns)} FROM ${schema}.answers
  WHERE question IN (SELECT question FROM ${parameterRows({ question: 'bytea' })} AS given)`,
)

const record = sql`
  INSERT INTO ${schema}.answers (question, stage, transaction_id, cbor) VALUES ($1, $2, $3, $4)
  ON CONFLICT (question, stage) DO UPDATE
  SET transaction_id = EXCLUDED.transaction_id, cbor = EXCLUDED.cbor, recorded_at = clock_timestamp()`

const forget = sql`DELETE FROM ${schema}.answers WHERE recorded_at < $1::timestamptz`

export function openAnswers(database: Database): Answers {
  return {
    async of(questions) {
      if (questions.length === 0) return []
      const rows = await database.query(ofQuestions, [bytesColumn(questions)])
      return rows.map(({ stage, ...row }) => ({ ...row, stage: stages[stage] ?? 'answer' }))
    },

    record: (transaction, lease) =>
      database.transaction(async (connection) => {
        await requireLease(connection, lease)
        const { question, stage, id, cbor } = transaction
        await connection.execute(record, [question, stages.indexOf(stage), id, cbor])
      }),

    forget: (recordedBefore) => database.execute(forget, [recordedBefore.toISOString()]),
  }
}

/** The purpose of a transaction: it pays outputs whose datums are parts of an answer, or it answers. */
export type AnswerStage = 'datum' | 'answer'

/** A transaction that answers a question of the summons, stored before it is sent. */
export interface AnswerTransaction extends Layer1Transaction {
  /** CBOR of the reference of the question's output. */
  readonly question: Uint8Array
  readonly stage: AnswerStage
}

/** The journal of the answers that were sent. */
export interface Answers {
  /** The recorded transactions of questions, in no particular order. */
  of(questions: readonly Uint8Array[]): Promise<AnswerTransaction[]>
  /**
   * Stores a transaction; replaces an earlier one of the same question and stage.
   *
   * @throws StoreError `STORE_LEASE_LOST`
   */
  record(transaction: AnswerTransaction, lease: Lease): Promise<void>
  /** Deletes what was recorded before a time. Returns how many were deleted. */
  forget(recordedBefore: Date): Promise<number>
}
