import {
  bytea,
  bytesColumn,
  type Database,
  int4,
  parameterRows,
  type SqlTransaction,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { addWithinLimit } from '../rejections/add-within-limit.js'
import { mempoolLedger } from '../schema/tables.js'
import { appendBatch } from './append-batch.js'
import type { Ledger, LedgerReads } from './types.js'

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
