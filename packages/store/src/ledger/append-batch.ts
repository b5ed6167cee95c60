import {
  bytesColumn,
  int4,
  parameterRows,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { createNetEffects, isEffectsError, type NetEffects } from '@ratatosk/ledger'
import { StoreError } from '../errors.js'
import type { Batch, LedgerEntry } from './types.js'

const reference = { transaction_id: 'bytea', output_index: 'integer' } as const
const output = { ...reference, output: 'bytea', address: 'bytea' } as const

// `made_by` and `spent_by` count the batch's transactions from 1; added to `base` they are accept sequences.
// Every part sees the tables as they were before the statement, so an output that the batch both produces and
// spends never enters the ledger: it goes straight to the spent outputs.
const append = statement(
  { deleted: int4 },
  sql`WITH base AS MATERIALIZED (
    SELECT setval(sequence, nextval(sequence) + $12::integer - 1) - $12::integer AS sequence
    FROM CAST('${schema}.accept_sequence' AS regclass) AS sequence
  ), accepted AS (
    INSERT INTO ${schema}.mempool_transactions (sequence, transaction_id, cbor)
    SELECT base.sequence + t.position, t.transaction_id, t.cbor
    FROM base, ${parameterRows({ transaction_id: 'bytea', cbor: 'bytea' })} AS t
  ), spent AS (
    DELETE FROM ${schema}.mempool_ledger AS ledger
    USING ${parameterRows({ ...reference, spent_by: 'integer' }, 3)} AS s
    WHERE ledger.transaction_id = s.transaction_id AND ledger.output_index = s.output_index
    RETURNING s.spent_by, ledger.*
  ), produced AS MATERIALIZED (
    SELECT * FROM ${parameterRows({ ...output, made_by: 'integer', spent_by: 'integer' }, 6)} AS p
  ), added AS (
    INSERT INTO ${schema}.mempool_ledger
      (transaction_id, output_index, output, address, sequence)
    SELECT p.transaction_id, p.output_index, p.output, p.address, base.sequence + p.made_by
    FROM base, produced AS p WHERE p.spent_by IS NULL
  ), kept AS (
    INSERT INTO ${schema}.spent_outputs
      (spent_by, transaction_id, output_index, output, address, sequence)
    SELECT base.sequence + s.spent_by, s.transaction_id, s.output_index, s.output, s.address, s.sequence
    FROM base, spent AS s
    UNION ALL
    SELECT base.sequence + p.spent_by, p.transaction_id, p.output_index, p.output, p.address,
      base.sequence + p.made_by
    FROM base, produced AS p WHERE p.spent_by IS NOT NULL
  ), remembered AS (
    INSERT INTO ${schema}.address_history (address, sequence)
    SELECT touched.address, base.sequence + touched.transaction
    FROM base, (
      SELECT address, made_by FROM produced
      UNION SELECT address, spent_by FROM produced WHERE spent_by IS NOT NULL
      UNION SELECT address, spent_by FROM spent
    ) AS touched (address, transaction)
  )
  SELECT count(*)::integer AS deleted FROM spent`,
)

/** Appends accepted transactions to the mempool and applies them to the ledger; see `Ledger.apply`. */
export async function appendBatch(transaction: SqlTransaction, { transactions }: Batch): Promise<void> {
  if (transactions.length === 0) return
  const net = netEffects(transactions)
  const spent = [...net.spent.values()]
  const produced = [...net.produced.values()]
  const [result] = await transaction.query(append, [
    bytesColumn(transactions.map(({ id }) => id)),
    bytesColumn(transactions.map(({ cbor }) => cbor)),
    bytesColumn(spent.map(({ reference }) => reference.transactionId)),
    spent.map(({ reference }) => reference.index),
    spent.map(({ spentBy }) => spentBy + 1),
    bytesColumn(produced.map(({ output }) => output.reference.transactionId)),
    produced.map(({ output }) => output.reference.index),
    bytesColumn(produced.map(({ output }) => output.output)),
    bytesColumn(produced.map(({ output }) => output.address)),
    produced.map(({ producedBy }) => producedBy + 1),
    produced.map(({ spentBy }) => (spentBy === undefined ? null : spentBy + 1)),
    transactions.length,
  ])
  if (result?.deleted !== spent.length) {
    throw transaction.doom(
      new StoreError(
        'STORE_CONFLICT',
        'The batch spends an output that is not in the ledger: judge it again',
      ),
    )
  }
}

/** @throws StoreError `STORE_INVALID_ARGUMENT` if the batch contradicts itself */
function netEffects(transactions: Batch['transactions']): NetEffects<LedgerEntry> {
  const net = createNetEffects<LedgerEntry>()
  try {
    for (const transaction of transactions) net.add(transaction)
  } catch (error) {
    if (!isEffectsError(error)) throw error
    throw new StoreError('STORE_INVALID_ARGUMENT', `The batch contradicts itself: ${error.message}`, {
      cause: error,
    })
  }
  return net
}
