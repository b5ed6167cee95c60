import type { Connection } from './drivers/connection.js'
import { StoreError } from './errors.js'
import { netEffect } from './net-effect.js'
import { rejectionWriter } from './rejections.js'
import type { Ledger } from './types.js'

/** The mempool ledger over a connection that holds its lock. */
export function openLedger(connection: Connection, schema: string): Ledger {
  const statements = ledgerStatements(schema)
  return {
    async outputs(references) {
      const outputs = new Array<Uint8Array | undefined>(references.length).fill(undefined)
      if (references.length === 0) return outputs
      const rows = await connection.query<{ position: number; output: Uint8Array }>(statements.outputs, [
        references.map(({ transactionId }) => transactionId),
        references.map(({ index }) => index),
      ])
      for (const { position, output } of rows) outputs[position - 1] = output
      return outputs
    },

    async known(ids) {
      const known = new Array<boolean>(ids.length).fill(false)
      if (ids.length === 0) return known
      const rows = await connection.query<{ position: number }>(statements.known, [ids])
      for (const { position } of rows) known[position - 1] = true
      return known
    },

    async apply({ transactions }) {
      if (transactions.length === 0) return
      const { spent, produced } = netEffect(transactions)
      const [result] = await connection.query<{ deleted: number }>(statements.apply, [
        transactions.map(({ id }) => id),
        transactions.map(({ cbor }) => cbor),
        spent.map(({ reference }) => reference.transactionId),
        spent.map(({ reference }) => reference.index),
        spent.map(({ position }) => position),
        produced.map(({ entry }) => entry.reference.transactionId),
        produced.map(({ entry }) => entry.reference.index),
        produced.map(({ entry }) => entry.output),
        produced.map(({ entry }) => entry.address),
        produced.map(({ entry }) => entry.paymentCredential ?? null),
        produced.map(({ position }) => position),
        produced.map(({ spentAt }) => spentAt ?? null),
      ])
      if (result?.deleted !== spent.length) {
        throw new StoreError('STORE_CONFLICT', 'An output that the batch spends is not in the ledger')
      }
    },

    rejections: rejectionWriter(connection, schema),
  }
}

function ledgerStatements(schema: string) {
  return {
    outputs: `
      SELECT asked.position::integer AS position, ledger.output
      FROM unnest($1::bytea[], $2::integer[]) WITH ORDINALITY AS asked (transaction_id, output_index, position)
      JOIN ${schema}.mempool_ledger AS ledger USING (transaction_id, output_index)`,

    known: `
      SELECT asked.position::integer AS position
      FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (transaction_id, position)
      WHERE EXISTS (SELECT FROM ${schema}.mempool_transactions AS t WHERE t.transaction_id = asked.transaction_id)
         OR EXISTS (SELECT FROM ${schema}.block_transactions AS t WHERE t.transaction_id = asked.transaction_id)`,

    // Positions count the batch's transactions from 1. Every part sees the tables as they were before the statement,
    // so an output made and spent within the batch never enters the ledger, only what is kept of spent outputs.
    apply: `
      WITH base AS MATERIALIZED (
        SELECT setval(sequence, nextval(sequence) + cardinality($1::bytea[]) - 1) - cardinality($1::bytea[]) AS sequence
        FROM CAST('${schema}.accept_sequence' AS regclass) AS sequence
      ), accepted AS (
        INSERT INTO ${schema}.mempool_transactions (sequence, transaction_id, cbor)
        SELECT base.sequence + t.position, t.transaction_id, t.cbor
        FROM base, unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS t (transaction_id, cbor, position)
      ), spent AS (
        DELETE FROM ${schema}.mempool_ledger AS ledger
        USING unnest($3::bytea[], $4::integer[], $5::integer[]) AS s (transaction_id, output_index, position)
        WHERE ledger.transaction_id = s.transaction_id AND ledger.output_index = s.output_index
        RETURNING s.position, ledger.*
      ), produced AS MATERIALIZED (
        SELECT * FROM unnest(
          $6::bytea[], $7::integer[], $8::bytea[], $9::bytea[], $10::bytea[], $11::integer[], $12::integer[]
        ) AS p (transaction_id, output_index, output, address, payment_credential, position, spent_at)
      ), added AS (
        INSERT INTO ${schema}.mempool_ledger
          (transaction_id, output_index, output, address, payment_credential, sequence)
        SELECT p.transaction_id, p.output_index, p.output, p.address, p.payment_credential, base.sequence + p.position
        FROM base, produced AS p WHERE p.spent_at IS NULL
      ), kept AS (
        INSERT INTO ${schema}.spent_outputs
          (spent_by, transaction_id, output_index, output, address, payment_credential, sequence)
        SELECT base.sequence + s.position, s.transaction_id, s.output_index, s.output, s.address, s.payment_credential,
          s.sequence
        FROM base, spent AS s
        UNION ALL
        SELECT base.sequence + p.spent_at, p.transaction_id, p.output_index, p.output, p.address, p.payment_credential,
          base.sequence + p.position
        FROM base, produced AS p WHERE p.spent_at IS NOT NULL
      ), remembered AS (
        INSERT INTO ${schema}.address_history (address, sequence)
        SELECT touched.address, base.sequence + touched.position
        FROM base, (
          SELECT address, position FROM produced
          UNION SELECT address, spent_at FROM produced WHERE spent_at IS NOT NULL
          UNION SELECT address, position FROM spent
        ) AS touched (address, position)
      )
      SELECT count(*)::integer AS deleted FROM spent`,
  }
}
