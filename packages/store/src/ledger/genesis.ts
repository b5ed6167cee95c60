import { createHash } from 'node:crypto'
import { bytesColumn, rowsOf, toHex } from '../drivers/columns.js'
import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import type { LedgerEntry } from '../types.js'

/** Outputs written by one statement. */
const chunk = 5_000

/** Over a connection that holds the ledger's lock. */
export async function applyGenesis(
  connection: Connection,
  schema: string,
  outputs: readonly LedgerEntry[],
): Promise<boolean> {
  const digest = digestOf(outputs)
  const [state] = await connection.query<{ applied: Uint8Array | null; used: boolean }>(
    `SELECT (SELECT digest FROM ${schema}.genesis) AS applied,
      EXISTS (SELECT FROM ${schema}.mempool_ledger)
        OR EXISTS (SELECT FROM ${schema}.mempool_transactions)
        OR EXISTS (SELECT FROM ${schema}.blocks) AS used`,
  )
  const applied = state?.applied ?? undefined
  if (applied !== undefined) {
    if (digest.equals(applied)) return false
    throw new StoreError('STORE_GENESIS_MISMATCH', 'The ledger began with other genesis outputs')
  }
  if (state?.used === true) {
    throw new StoreError('STORE_GENESIS_MISMATCH', 'The ledger is in use and began without genesis outputs')
  }

  const columns = {
    transaction_id: 'bytea',
    output_index: 'integer',
    output: 'bytea',
    address: 'bytea',
    payment_credential: 'bytea',
  } as const
  // Each output has a sequence of its own, so that an address lists them in the order given.
  const insert = `
    INSERT INTO ${schema}.mempool_ledger (transaction_id, output_index, output, address, payment_credential, sequence)
    SELECT transaction_id, output_index, output, address, payment_credential, nextval('${schema}.accept_sequence')
    FROM (SELECT * FROM ${rowsOf(columns)} AS o ORDER BY position) AS ordered`
  for (let start = 0; start < outputs.length; start += chunk) {
    const part = outputs.slice(start, start + chunk)
    await connection.query(insert, [
      bytesColumn(part.map(({ reference }) => reference.transactionId)),
      part.map(({ reference }) => reference.index),
      bytesColumn(part.map(({ output }) => output)),
      bytesColumn(part.map(({ address }) => address)),
      bytesColumn(part.map(({ paymentCredential }) => paymentCredential)),
    ])
  }
  await connection.query(`INSERT INTO ${schema}.genesis (digest, outputs) VALUES ($1, $2)`, [
    digest,
    outputs.length,
  ])
  return true
}

/** The same for the same outputs in any order. */
function digestOf(outputs: readonly LedgerEntry[]): Buffer {
  const lines = outputs.map(({ reference, output, address, paymentCredential }) =>
    [
      toHex(reference.transactionId),
      reference.index,
      toHex(output),
      toHex(address),
      paymentCredential === undefined ? '' : toHex(paymentCredential),
    ].join(),
  )
  return createHash('sha256').update(lines.sort().join('\n')).digest()
}
