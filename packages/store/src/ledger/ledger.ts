import {
  bytea,
  bytesColumn,
  type Database,
  int4,
  type Parameter,
  parameterRows,
  type Sql,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import {
  type AppliedTransaction,
  createNetEffects,
  isEffectsError,
  type NetEffects,
  type OutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import { StoreError } from '../errors.js'
import type { RejectionWriter } from '../rejections/types.js'
import { addWithinLimit } from '../rejections/write-rejections.js'
import { mempoolLedger } from '../schema/tables.js'

export type { AppliedTransaction } from '@ratatosk/ledger'

/** An unspent output as the store keeps it. */
export interface StoredOutput {
  readonly reference: OutputReference
  /** CBOR of the transaction output, as submitted. */
  readonly output: Uint8Array
}

/** An output with the address that queries find it by. */
export interface LedgerEntry extends StoredOutput {
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
}

/** Transactions in order of acceptance. A transaction may spend what an earlier one of the batch produces. */
export interface Batch {
  readonly transactions: readonly AppliedTransaction[]
}

/** The reads of the mempool ledger. */
export interface LedgerReads {
  /** The unspent outputs of `references`, in their order. `undefined`: unknown or spent. One query. */
  outputs(references: readonly OutputReference[]): Promise<(Uint8Array | undefined)[]>
  /**
   * The transaction that spent each of `references`, in their order. `undefined`: unspent, unknown, or spent
   * so long ago that it is forgotten; see `Blocks.forgetSpent`. One query.
   */
  spenders(references: readonly OutputReference[]): Promise<(Uint8Array | undefined)[]>
  /** For each transaction id, in order: whether it is in the mempool or in a block. One query. */
  known(ids: readonly Uint8Array[]): Promise<boolean[]>
}

/** The mempool ledger before its lock. Valid only inside the callback of {@link Store.withUnlockedLedger}. */
export interface UnlockedLedger extends LedgerReads {
  /**
   * Waits for the lock, which is held until the SQL transaction ends. Earlier reads may be outdated.
   */
  lock(): Promise<Ledger>
}

/**
 * The mempool ledger under its lock. Valid only inside the callback of {@link Store.withLedger} or
 * {@link Store.withUnlockedLedger}.
 */
export interface Ledger extends LedgerReads {
  /**
   * Writes a batch in one statement: transactions, spent and produced outputs, address history.
   *
   * @throws StoreError `STORE_CONFLICT` if a spent output is not in the ledger or an id is taken,
   * `STORE_INVALID_ARGUMENT` if the batch spends an output twice or spends what only a later transaction
   * produces.
   */
  apply(batch: Batch): Promise<void>
  /** Adds rejections in the same SQL transaction. */
  readonly rejections: RejectionWriter
}

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
async function appendBatch(transaction: SqlTransaction, { transactions }: Batch): Promise<void> {
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

const outputs = statement(
  { position: int4, output: mempoolLedger.output },
  sql`SELECT asked.position, ledger.output
  FROM ${parameterRows({ transaction_id: 'bytea', output_index: 'integer' })} AS asked
  JOIN ${schema}.mempool_ledger AS ledger USING (transaction_id, output_index)`,
)

const known = statement(
  { position: int4 },
  sql`SELECT asked.position
  FROM ${parameterRows({ transaction_id: 'bytea' })} AS asked
  JOIN (
    SELECT transaction_id FROM ${schema}.mempool_transactions
    UNION ALL
    SELECT transaction_id FROM ${schema}.block_transactions
  ) AS accepted USING (transaction_id)`,
)

const spenders = statement(
  { position: int4, spender: bytea },
  sql`SELECT asked.position, COALESCE(waiting.transaction_id, placed.transaction_id) AS spender
  FROM ${parameterRows({ transaction_id: 'bytea', output_index: 'integer' })} AS asked
  JOIN ${schema}.spent_outputs AS spent
    ON spent.transaction_id || int4send(spent.output_index)
      = asked.transaction_id || int4send(asked.output_index)
  LEFT JOIN ${schema}.mempool_transactions AS waiting ON waiting.sequence = spent.spent_by
  LEFT JOIN ${schema}.block_transactions AS placed ON placed.sequence = spent.spent_by
  WHERE waiting.sequence IS NOT NULL OR placed.sequence IS NOT NULL`,
)

export function openLedgerReads(database: Pick<Database, 'query'>): LedgerReads {
  return {
    async outputs(references) {
      const found = new Array<Uint8Array | undefined>(references.length).fill(undefined)
      if (references.length === 0) return found
      const rows = await database.query(outputs, [
        bytesColumn(references.map(({ transactionId }) => transactionId)),
        references.map(({ index }) => index),
      ])
      for (const { position, output } of rows) found[position - 1] = output
      return found
    },

    async spenders(references) {
      const found = new Array<Uint8Array | undefined>(references.length).fill(undefined)
      if (references.length === 0) return found
      const rows = await database.query(spenders, [
        bytesColumn(references.map(({ transactionId }) => transactionId)),
        references.map(({ index }) => index),
      ])
      for (const { position, spender } of rows) found[position - 1] = spender
      return found
    },

    async known(ids) {
      const found = new Array<boolean>(ids.length).fill(false)
      if (ids.length === 0) return found
      const rows = await database.query(known, [bytesColumn(ids)])
      for (const { position } of rows) found[position - 1] = true
      return found
    },
  }
}

/** The mempool ledger in a transaction that holds its lock. `maxRejectionBytes` undefined: no limit. */
export function openLedger(transaction: SqlTransaction, maxRejectionBytes?: number): Ledger {
  return {
    ...openLedgerReads(transaction),
    apply: (batch) => appendBatch(transaction, batch),
    rejections: { add: (rejections) => addWithinLimit(transaction, rejections, maxRejectionBytes) },
  }
}
