import {
  bytesColumn,
  type Connection,
  parameterRows,
  type Row,
  type SqlTransaction,
  schema,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import { type OutputReference, outputReferenceKey } from '@ratatosk/ledger'
import { appendBatch } from '../ledger/append-batch.js'
import { openLedgerReads } from '../ledger/ledger.js'
import type { AcceptedTransaction } from '../ledger/types.js'
import { addRejections } from '../rejections/add-rejections.js'
import type { NewRejection } from '../rejections/types.js'
import { mempoolTransactions } from '../schema/tables.js'
import type { ExaminedTransaction, ForeignBlock } from './types.js'
import { undoEffects } from './undo-effects.js'

/** Transactions read at a time. */
const pageSize = 1_000

const mempoolRow = {
  sequence: mempoolTransactions.sequence,
  id: mempoolTransactions.transactionId,
  cbor: mempoolTransactions.cbor,
  acceptedAt: mempoolTransactions.acceptedAt,
}
export type MempoolRow = Row<typeof mempoolRow>

export const mempoolAfter = statement(
  mempoolRow,
  sql`SELECT sequence, transaction_id AS id, cbor, accepted_at AS "acceptedAt"
  FROM ${schema}.mempool_transactions WHERE sequence > $1 ORDER BY sequence LIMIT ${pageSize}`,
)

const mempoolBetween = statement(
  mempoolRow,
  sql`SELECT sequence, transaction_id AS id, cbor, accepted_at AS "acceptedAt"
  FROM ${schema}.mempool_transactions WHERE sequence BETWEEN $1 AND $2
  ORDER BY sequence LIMIT ${pageSize}`,
)

const noteAfter = sql`
  INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
  SELECT sequence, transaction_id FROM ${schema}.mempool_transactions WHERE sequence > $1 ORDER BY sequence`

const remove = sql`DELETE FROM ${schema}.mempool_transactions WHERE sequence BETWEEN $1 AND $2`

const takeOut = statement(
  { id: mempoolTransactions.transactionId, acceptedAt: mempoolTransactions.acceptedAt },
  sql`DELETE FROM ${schema}.mempool_transactions AS mempool
  USING ${parameterRows({ transaction_id: 'bytea' })} AS given
  WHERE mempool.transaction_id = given.transaction_id AND mempool.sequence <= $2
  RETURNING mempool.transaction_id AS id, mempool.accepted_at AS "acceptedAt"`,
)

const setAcceptedAt = sql`
  UPDATE ${schema}.mempool_transactions AS mempool SET accepted_at = given.accepted_at
  FROM ${parameterRows({ transaction_id: 'bytea', accepted_at: 'timestamptz' })} AS given
  WHERE mempool.transaction_id = given.transaction_id`

/** When a transaction was accepted first. */
type Acceptance = Pick<MempoolRow, 'id' | 'acceptedAt'>

/**
 * Takes the effects of the mempool's transactions after a sequence out of the ledger. The rows stay, for
 * {@link takeOutKnown} and {@link returnRest}.
 */
export async function takeOutRest(transaction: Connection, cut: bigint): Promise<void> {
  await transaction.execute(noteAfter, [cut])
  await undoEffects(transaction, 'mempool_transactions', cut + 1n)
}

/** Removes the rows of these transactions, as far as they are there. */
export function takeOutKnown(
  transaction: Connection,
  transactions: readonly AcceptedTransaction[],
  end: bigint,
): Promise<readonly Acceptance[]> {
  return transaction.query(takeOut, [bytesColumn(transactions.map(({ id }) => id)), end])
}

/** Gives transactions that were appended again the times at which they were accepted first. */
export async function backdate(transaction: Connection, given: readonly Acceptance[]): Promise<void> {
  if (given.length === 0) return
  await transaction.execute(setAcceptedAt, [
    bytesColumn(given.map(({ id }) => id)),
    given.map(({ acceptedAt }) => acceptedAt),
  ])
}

/** What the mempool gives way to. */
interface GivenWay {
  readonly block: ForeignBlock
  /** Its transactions that have been appended. */
  readonly rest: readonly AcceptedTransaction[]
  /** Rows after `cut`, up to `end`, are without effect. */
  readonly cut: bigint
  readonly end: bigint
}

/** Why a transaction cannot come back. */
interface Conflict {
  readonly message: string
  /** The transaction of the block that it rests on. */
  readonly spentBy: Uint8Array | undefined
}

/**
 * Appends the rows that {@link takeOutRest} has left again, in their order. Those that name an output that is
 * gone become dead letters.
 *
 * @returns how many became dead letters
 */
export async function returnRest(
  transaction: SqlTransaction,
  { block, rest, cut, end }: GivenWay,
  examine: (cbor: Uint8Array) => ExaminedTransaction,
): Promise<number> {
  const spenders = new Map<string, Uint8Array>()
  for (const { id, spent } of rest)
    for (const reference of spent) spenders.set(outputReferenceKey(reference), id)
  const lost = new Map<string, Uint8Array | undefined>()
  const header = toHex(block.headerHash)

  /** @param reference an output that is not in the ledger */
  function conflictOver(reference: OutputReference): Conflict {
    const key = outputReferenceKey(reference)
    const parent = toHex(reference.transactionId)
    const spentBy = spenders.get(key)
    if (spentBy !== undefined) {
      const message = `The transaction names the output ${key}, which transaction ${toHex(spentBy)} spends`
      return { message: `${message} in block ${header}`, spentBy }
    }
    const message = lost.has(parent)
      ? `The transaction names an output of transaction ${parent}, which was dropped`
      : `The transaction names the output ${key}, which does not exist`
    return { message: `${message} because of block ${header}`, spentBy: lost.get(parent) }
  }

  for (;;) {
    const page = await transaction.query(mempoolBetween, [cut + 1n, end])
    const newest = page.at(-1)
    if (newest === undefined) return lost.size
    await transaction.execute(remove, [cut + 1n, newest.sequence])
    const examined = page.map((row) => ({ row, ...examine(row.cbor) }))
    const isThere = await presentOf(transaction, examined)
    const kept: (typeof examined)[number][] = []
    const rejected: NewRejection[] = []
    for (const each of examined) {
      const missing = each.named.find((reference) => !isThere.has(outputReferenceKey(reference)))
      if (missing === undefined) {
        kept.push(each)
        for (const reference of each.spent) isThere.delete(outputReferenceKey(reference))
        for (const { reference } of each.produced) isThere.add(outputReferenceKey(reference))
        continue
      }
      const conflict = conflictOver(missing)
      lost.set(toHex(each.id), conflict.spentBy)
      rejected.push(rejectionOf(each.row, conflict, header))
    }
    await appendBatch(transaction, { transactions: kept })
    await backdate(
      transaction,
      kept.map(({ row }) => row),
    )
    await addRejections(transaction, rejected)
  }
}

/** The keys of the outputs that these transactions name and the ledger has. */
async function presentOf(
  transaction: Connection,
  examined: readonly ExaminedTransaction[],
): Promise<Set<string>> {
  const named = new Map<string, OutputReference>()
  for (const each of examined)
    for (const reference of each.named) named.set(outputReferenceKey(reference), reference)
  const found = await openLedgerReads(transaction).outputs([...named.values()])
  return new Set([...named.keys()].filter((_, place) => found[place] !== undefined))
}

/** Its id has the sequence: a transaction may be accepted again and be dropped again. */
function rejectionOf(
  { sequence, id, cbor, acceptedAt }: MempoolRow,
  { message, spentBy }: Conflict,
  headerHash: string,
): NewRejection {
  const code = 'ConflictsWithBlock'
  const details = { headerHash, ...(spentBy && { spentBy: toHex(spentBy) }) }
  return {
    submissionId: `dropped-${toHex(id)}-${sequence}`,
    transactionId: id,
    cbor,
    attempts: 1,
    code,
    message,
    details: [{ predicate: code, message, details }],
    submittedAt: acceptedAt,
    ...(spentBy && { spentBy }),
  }
}
