import { bytesColumn, rowsOf } from '../drivers/columns.js'
import type { Transaction } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { rejectionWriter } from '../repositories/rejections.js'
import type { Ledger } from '../types.js'
import { netEffect } from './net-effect.js'

/** The mempool ledger over a transaction that holds its lock. */
export function openLedger(transaction: Transaction, schema: string): Ledger {
  const statements = ledgerStatements(schema)
  return {
    async outputs(references) {
      const outputs = new Array<Uint8Array | undefined>(references.length).fill(undefined)
      if (references.length === 0) return outputs
      const rows = await transaction.query<{ position: number; output: Uint8Array }>(statements.outputs, [
        bytesColumn(references.map(({ transactionId }) => transactionId)),
        references.map(({ index }) => index),
      ])
      for (const { position, output } of rows) outputs[position - 1] = output
      return outputs
    },

    async known(ids) {
      const known = new Array<boolean>(ids.length).fill(false)
      if (ids.length === 0) return known
      const rows = await transaction.query<{ position: number }>(statements.known, [bytesColumn(ids)])
      for (const { position } of rows) known[position - 1] = true
      return known
    },

    async apply({ transactions }) {
      if (transactions.length === 0) return
      const { spent, produced } = netEffect(transactions)
      const [result] = await transaction.query<{ deleted: number }>(statements.apply, [
        bytesColumn(transactions.map(({ id }) => id)),
        bytesColumn(transactions.map(({ cbor }) => cbor)),
        bytesColumn(spent.map(({ reference }) => reference.transactionId)),
        spent.map(({ reference }) => reference.index),
        spent.map(({ position }) => position),
        bytesColumn(produced.map(({ entry }) => entry.reference.transactionId)),
        produced.map(({ entry }) => entry.reference.index),
        bytesColumn(produced.map(({ entry }) => entry.output)),
        bytesColumn(produced.map(({ entry }) => entry.address)),
        bytesColumn(produced.map(({ entry }) => entry.paymentCredential)),
        produced.map(({ madeBy }) => madeBy),
        produced.map(({ spentBy }) => spentBy ?? null),
        transactions.length,
      ])
      if (result?.deleted !== spent.length) {
        throw transaction.doom(
          new StoreError('STORE_CONFLICT', 'An output that the batch spends is not in the ledger'),
        )
      }
    },

    rejections: rejectionWriter(transaction, schema),
  }
}

function ledgerStatements(schema: string) {
  const reference = { transaction_id: 'bytea', output_index: 'integer' } as const
  const output = { ...reference, output: 'bytea', address: 'bytea', payment_credential: 'bytea' } as const
  return {
    outputs: `
      SELECT asked.position, ledger.output
      FROM ${rowsOf(reference)} AS asked
      JOIN ${schema}.mempool_ledger AS ledger USING (transaction_id, output_index)`,

    known: `
      SELECT asked.position
      FROM ${rowsOf({ transaction_id: 'bytea' })} AS asked
      JOIN (
        SELECT transaction_id FROM ${schema}.mempool_transactions
        UNION ALL
        SELECT transaction_id FROM ${schema}.block_transactions
      ) AS accepted USING (transaction_id)`,

    // `made_by` and `spent_by` count the batch's transactions from 1; added to `base` they are accept sequences. Every
    // part sees the tables as they were before the statement, so an output made and spent within the batch never enters
    // the ledger: it goes straight to what is kept of spent outputs.
    apply: `
      WITH base AS MATERIALIZED (
        SELECT setval(sequence, nextval(sequence) + $13::integer - 1) - $13::integer AS sequence
        FROM CAST('${schema}.accept_sequence' AS regclass) AS sequence
      ), accepted AS (
        INSERT INTO ${schema}.mempool_transactions (sequence, transaction_id, cbor)
        SELECT base.sequence + t.position, t.transaction_id, t.cbor
        FROM base, ${rowsOf({ transaction_id: 'bytea', cbor: 'bytea' })} AS t
      ), spent AS (
        DELETE FROM ${schema}.mempool_ledger AS ledger
        USING ${rowsOf({ ...reference, spent_by: 'integer' }, 3)} AS s
        WHERE ledger.transaction_id = s.transaction_id AND ledger.output_index = s.output_index
        RETURNING s.spent_by, ledger.*
      ), produced AS MATERIALIZED (
        SELECT * FROM ${rowsOf({ ...output, made_by: 'integer', spent_by: 'integer' }, 6)} AS p
      ), added AS (
        INSERT INTO ${schema}.mempool_ledger
          (transaction_id, output_index, output, address, payment_credential, sequence)
        SELECT p.transaction_id, p.output_index, p.output, p.address, p.payment_credential, base.sequence + p.made_by
        FROM base, produced AS p WHERE p.spent_by IS NULL
      ), kept AS (
        INSERT INTO ${schema}.spent_outputs
          (spent_by, transaction_id, output_index, output, address, payment_credential, sequence)
        SELECT base.sequence + s.spent_by, s.transaction_id, s.output_index, s.output, s.address, s.payment_credential,
          s.sequence
        FROM base, spent AS s
        UNION ALL
        SELECT base.sequence + p.spent_by, p.transaction_id, p.output_index, p.output, p.address, p.payment_credential,
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
  }
}
