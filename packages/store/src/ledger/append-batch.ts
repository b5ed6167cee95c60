import {
  bytesColumn,
  int4,
  type Parameter,
  parameterRows,
  type Sql,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { createNetEffects, isEffectsError, type NetEffects, outputReferenceKey } from '@ratatosk/ledger'
import { StoreError } from '../errors.js'
import type { AppliedTransaction, Batch, LedgerEntry } from './types.js'

const reference = { transaction_id: 'bytea', output_index: 'integer' } as const
const output = { ...reference, output: 'bytea', address: 'bytea' } as const

/**
 * Applies transactions to the ledger. `made_by` and `spent_by` count from 1; plus `base` they are accept
 * sequences. An output that the batch makes and spends goes straight to the spent outputs, as does one that
 * leaves, which counts as spent by its maker: each part sees the tables as before.
 */
const append = (base: Sql, accept: Sql, mayBeSpent: string) =>
  statement(
    { deleted: int4 },
    sql`WITH base AS MATERIALIZED (${base}), accepted AS (
    ${accept}
    FROM base, ${parameterRows({ transaction_id: 'bytea', cbor: 'bytea' })} AS t
  ), spent AS (
    DELETE FROM ${schema}.mempool_ledger AS ledger
    USING ${parameterRows({ ...reference, spent_by: 'integer' }, 3)} AS s
    WHERE ledger.transaction_id = s.transaction_id AND ledger.output_index = s.output_index AND ${mayBeSpent}
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

const appendToMempool = append(
  sql`SELECT setval(sequence, nextval(sequence) + $12::integer - 1) - $12::integer AS sequence
    FROM CAST('${schema}.accept_sequence' AS regclass) AS sequence`,
  sql`INSERT INTO ${schema}.mempool_transactions (sequence, event_sequence, transaction_id, cbor)
    SELECT base.sequence + t.position, base.sequence + t.position, t.transaction_id, t.cbor`,
  'true',
)

const appendToBlock = append(
  sql`SELECT $12::bigint AS sequence`,
  sql`INSERT INTO ${schema}.block_transactions
      (block_id, position, sequence, event_sequence, transaction_id, cbor, accepted_at)
    SELECT $13::bigint, ($14::integer[])[t.position], base.sequence + ($14::integer[])[t.position],
      base.sequence + ($14::integer[])[t.position], t.transaction_id, t.cbor, now()`,
  'ledger.sequence NOT BETWEEN $15::bigint AND $16::bigint',
)

/** Appends accepted transactions to the mempool and applies them to the ledger; see `Ledger.apply`. */
export async function appendBatch(transaction: SqlTransaction, { transactions }: Batch): Promise<void> {
  if (transactions.length === 0) return
  const { spent, parameters } = effectsOf(transactions, (place) => place + 1)
  const [result] = await transaction.query(appendToMempool, [...parameters, transactions.length])
  if (result?.deleted !== spent) throw transaction.doom(spendsWhatIsNotThere())
}

/** A block that transactions are appended to. */
export interface GrowingBlock {
  readonly id: bigint
  /** Added to the position of a transaction, from 1, this is its accept sequence. */
  readonly zero: bigint
  /** The sequences whose outputs the block does not have. */
  readonly absent: readonly [first: bigint, last: bigint]
}

/** As {@link appendBatch} for transactions of a block. `positions` count from 1. */
export function blockAppender(
  transactions: readonly AppliedTransaction[],
  positions: readonly number[],
  { id, zero, absent }: GrowingBlock,
): (transaction: SqlTransaction) => Promise<void> {
  const { spent, parameters } = effectsOf(transactions, (place) => positions[place] ?? 0)
  const all = [...parameters, zero, id, positions, ...absent]
  return async (transaction) => {
    const [result] = await transaction.query(appendToBlock, all)
    if (result?.deleted !== spent) throw transaction.doom(spendsWhatIsNotThere())
  }
}

/** The first eleven parameters, and the number of spent outputs that the transactions have not produced. */
function effectsOf(
  transactions: readonly AppliedTransaction[],
  numberOf: (place: number) => number,
): { readonly spent: number; readonly parameters: readonly Parameter[] } {
  const net = netEffects(transactions)
  const spent = [...net.spent.values()]
  const produced = [...net.produced.values()]
  const parameters = [
    bytesColumn(transactions.map(({ id }) => id)),
    bytesColumn(transactions.map(({ cbor }) => cbor)),
    bytesColumn(spent.map(({ reference }) => reference.transactionId)),
    spent.map(({ reference }) => reference.index),
    spent.map(({ spentBy }) => numberOf(spentBy)),
    bytesColumn(produced.map(({ output }) => output.reference.transactionId)),
    produced.map(({ output }) => output.reference.index),
    bytesColumn(produced.map(({ output }) => output.output)),
    bytesColumn(produced.map(({ output }) => output.address)),
    produced.map(({ producedBy }) => numberOf(producedBy)),
    produced.map(({ spentBy }) => (spentBy === undefined ? null : numberOf(spentBy))),
  ]
  return { spent: spent.length, parameters }
}

const spendsWhatIsNotThere = (): StoreError =>
  new StoreError('STORE_CONFLICT', 'The batch spends an output that is not in the ledger: judge it again')

/** @throws StoreError `STORE_INVALID_ARGUMENT` if the batch contradicts itself */
function netEffects(transactions: Batch['transactions']): NetEffects<LedgerEntry> {
  const net = createNetEffects<LedgerEntry>()
  try {
    for (const [place, transaction] of transactions.entries()) {
      net.add(transaction)
      for (const { reference, left } of transaction.produced) {
        const made = left && net.produced.get(outputReferenceKey(reference))
        if (made) made.spentBy = place
      }
    }
  } catch (error) {
    if (!isEffectsError(error)) throw error
    throw new StoreError('STORE_INVALID_ARGUMENT', `The batch contradicts itself: ${error.message}`, {
      cause: error,
    })
  }
  return net
}
