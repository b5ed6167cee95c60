import { bytea, type Database, schema, selectList, sql, statement } from '@ratatosk/database'
import type { OrderedTransaction } from '../blocks/types.js'
import { StoreError } from '../errors.js'
import { resubmissions } from '../schema/tables.js'

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

interface Requeued {
  readonly sequence: bigint
  readonly submissionId: string
}

/** One time that the removal of a block took a transaction out of the ledger. */
export interface Removal {
  /** The removed block that had it; undefined if it was accepted after that block and was in no block yet. */
  readonly block?: { readonly headerHash: Uint8Array; readonly height: bigint }
  /** By the database's clock. */
  readonly removedAt: Date
  /** The submission that brought it back; undefined while it waits. */
  readonly submissionId?: string
}

/**
 * Transactions that the removal of blocks took out of the ledger; see `Blocks.undo`. They go back to the
 * queue in the order in which they had been accepted, and are judged anew. A transaction may reach the queue
 * twice if a process ends in between; validation applies it once.
 */
export interface Resubmissions {
  /** The oldest that are not in the queue yet, with their former accept sequences: at most `limit`. */
  waiting(limit: number): Promise<OrderedTransaction[]>
  /** Records that the queue has them. Those that are unknown or were recorded before are left as they are. */
  queued(transactions: readonly Requeued[]): Promise<void>
  /** When and with which blocks a transaction (32 bytes) was removed, newest first. */
  ofTransaction(id: Uint8Array): Promise<Removal[]>
  /** Forgets those that were back in the queue before a time. Returns how many. */
  forget(queuedBefore: Date): Promise<number>
}
