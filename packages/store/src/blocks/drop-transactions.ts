import {
  bool,
  type Connection,
  int4,
  int8,
  type Row,
  type SqlTransaction,
  schema,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { addRejections } from '../rejections/add-rejections.js'
import { mempoolTransactions } from '../schema/tables.js'
import type { DropReason, DropRule } from './types.js'

/** Transactions read at a time. */
const pageSize = 1_000

export const mempoolRow = {
  sequence: mempoolTransactions.sequence,
  id: mempoolTransactions.transactionId,
  cbor: mempoolTransactions.cbor,
  acceptedAt: mempoolTransactions.acceptedAt,
}

const mempoolAfter = statement(
  mempoolRow,
  sql`SELECT sequence, transaction_id AS id, cbor, accepted_at AS "acceptedAt"
  FROM ${schema}.mempool_transactions WHERE sequence > $1 ORDER BY sequence LIMIT ${pageSize}`,
)

const oldestSequence = statement(
  { sequence: int8 },
  sql`SELECT COALESCE(min(sequence), 0) AS sequence FROM ${schema}.mempool_transactions`,
)

// `spent_by` is what the primary key begins with.
const isStillSpent = statement(
  { spent: bool },
  sql`SELECT EXISTS (
    SELECT FROM ${schema}.spent_outputs AS spent
    JOIN ${schema}.mempool_transactions AS dropped USING (transaction_id)
    WHERE spent.spent_by > $2 AND dropped.sequence = ANY ($1::bigint[])
      AND spent.spent_by <> ALL ($1::bigint[])
  ) AS spent`,
)

// The reverse of what `appendBatch` wrote. Every part sees the tables as they were before the statement: an
// output that one dropped transaction made and another spent is in neither table afterwards.
const undo = statement(
  { dropped: int4 },
  sql`WITH dropped AS (
    DELETE FROM ${schema}.mempool_transactions WHERE sequence = ANY ($1::bigint[])
    RETURNING sequence, transaction_id
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
    SELECT sequence, transaction_id FROM dropped ORDER BY sequence
  ), made AS (
    DELETE FROM ${schema}.mempool_ledger AS ledger USING dropped
    WHERE ledger.transaction_id = dropped.transaction_id
    RETURNING ledger.address, ledger.sequence
  ), freed AS (
    DELETE FROM ${schema}.spent_outputs AS spent USING dropped
    WHERE spent.spent_by = dropped.sequence
    RETURNING spent.*
  ), restored AS (
    INSERT INTO ${schema}.mempool_ledger
      (transaction_id, output_index, output, address, sequence)
    SELECT transaction_id, output_index, output, address, sequence
    FROM freed WHERE sequence <> ALL ($1::bigint[])
  ), forgotten AS (
    DELETE FROM ${schema}.address_history AS history
    USING (
      SELECT address, sequence FROM made
      UNION SELECT address, sequence FROM freed
      UNION SELECT address, spent_by FROM freed
    ) AS touched (address, sequence)
    WHERE history.address = touched.address AND history.sequence = touched.sequence
      AND touched.sequence = ANY ($1::bigint[])
  )
  SELECT count(*)::integer AS dropped FROM dropped`,
)

/** Takes transactions and their effects out of the mempool. `sequences` include all descendants. */
export async function takeOut(transaction: SqlTransaction, sequences: readonly bigint[]): Promise<void> {
  const sorted = [...sequences].sort((one, other) => (one < other ? -1 : 1))
  // The newest first: what an older transaction made is restored before that transaction is taken out.
  for (let end = sorted.length; end > 0; end -= pageSize) {
    const part = sorted.slice(Math.max(0, end - pageSize), end)
    const [result] = await transaction.query(undo, [part])
    if (result?.dropped !== part.length)
      throw transaction.doom(new StoreError('STORE_CONFLICT', 'A transaction to drop is not in the mempool'))
  }
}

/** A search of the mempool for what must be dropped, which can be continued when the mempool has grown. */
export interface DropSearch {
  readonly reasons: Map<string, DropReason>
  readonly found: { readonly transaction: Row<typeof mempoolRow>; readonly reason: DropReason }[]
  last: bigint
  /** Whether `follow` finds the first ones too. */
  readonly isOpen: boolean
}

/** @param first undefined: `follow` finds them */
export function startDropSearch(first?: ReadonlyMap<string, DropReason>): DropSearch {
  return { reasons: new Map(first), found: [], last: -1n, isOpen: first === undefined }
}

/** Reads the transactions of the mempool that the search has not read yet. */
export async function continueDropSearch(
  connection: Connection,
  search: DropSearch,
  follow: DropRule,
): Promise<void> {
  const { reasons, found, isOpen } = search
  for (;;) {
    const page = await connection.query(mempoolAfter, [search.last])
    for (const transaction of page) {
      const id = toHex(transaction.id)
      const reason =
        reasons.get(id) ?? (isOpen || found.length > 0 ? follow(transaction, reasons) : undefined)
      search.last = transaction.sequence
      if (reason === undefined) continue
      reasons.set(id, reason)
      found.push({ transaction, reason })
    }
    if (page.length < pageSize) return
  }
}

/** Drops what a complete search has found, under the ledger's lock; see `Blocks.drop`. */
export async function dropFound(
  transaction: SqlTransaction,
  { found, reasons }: DropSearch,
): Promise<number> {
  if (found.length !== reasons.size)
    throw new StoreError('STORE_CONFLICT', 'A transaction to drop is not in the mempool')
  if (found.length === 0) return 0
  const sequences = found.map(({ transaction: { sequence } }) => String(sequence))
  const [oldest] = await transaction.query(oldestSequence)
  const [still] = await transaction.query(isStillSpent, [sequences, oldest?.sequence ?? 0n])
  if (still?.spent)
    throw new StoreError(
      'STORE_INVALID_ARGUMENT',
      'A transaction that stays in the mempool spends an output of one that is dropped',
    )
  await takeOut(
    transaction,
    found.map(({ transaction: { sequence } }) => sequence),
  )
  await addRejections(
    transaction,
    found.map(({ transaction: { id, cbor, acceptedAt }, reason }) => ({
      submissionId: `dropped-${toHex(id)}`,
      transactionId: id,
      cbor,
      attempts: 1,
      ...reason,
      submittedAt: acceptedAt,
    })),
  )
  return found.length
}
