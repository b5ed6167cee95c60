import type { Connection } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import type { Store, StoredOutput } from '../types.js'

type Queries = Pick<
  Store,
  'transaction' | 'utxosAt' | 'utxosByPaymentCredential' | 'history' | 'blockTransactions'
>

interface OutputRow {
  readonly transactionId: Uint8Array
  readonly index: number
  readonly output: Uint8Array
}

export function openQueries(connection: Connection, schema: string): Queries {
  const transaction = `
    SELECT cbor FROM ${schema}.mempool_transactions WHERE transaction_id = $1
    UNION ALL
    SELECT cbor FROM ${schema}.block_transactions WHERE transaction_id = $1
    LIMIT 1`
  const outputsWhere = (column: string) => `
    SELECT transaction_id AS "transactionId", output_index AS index, output
    FROM ${schema}.mempool_ledger WHERE ${column} = $1
    ORDER BY sequence, output_index`
  const utxosAt = outputsWhere('address')
  const utxosByPaymentCredential = outputsWhere('payment_credential')
  const history = `
    SELECT COALESCE(mempool.cbor, block.cbor) AS cbor
    FROM (
      SELECT sequence FROM ${schema}.address_history WHERE address = $1 ORDER BY sequence LIMIT $2 OFFSET $3
    ) AS page
    LEFT JOIN ${schema}.mempool_transactions AS mempool USING (sequence)
    LEFT JOIN ${schema}.block_transactions AS block USING (sequence)
    ORDER BY sequence`
  const blockTransactions = `
    SELECT transactions.transaction_id AS "transactionId"
    FROM ${schema}.blocks AS block
    JOIN ${schema}.block_transactions AS transactions ON transactions.block_id = block.id
    WHERE block.header_hash = $1 AND block.state IN ('submitted', 'committed', 'mature', 'merged')
    ORDER BY transactions.position`

  return {
    async transaction(id) {
      const [row] = await connection.query<{ cbor: Uint8Array }>(transaction, [id])
      return row?.cbor
    },

    async utxosAt(address) {
      return (await connection.query<OutputRow>(utxosAt, [address])).map(toStoredOutput)
    },

    async utxosByPaymentCredential(hash) {
      return (await connection.query<OutputRow>(utxosByPaymentCredential, [hash])).map(toStoredOutput)
    },

    async history(address, { limit, offset }) {
      if (!isCount(limit) || !isCount(offset)) {
        throw new StoreError(
          'STORE_INVALID_ARGUMENT',
          'The limit and the offset of a page are whole numbers from 0',
        )
      }
      const rows = await connection.query<{ cbor: Uint8Array }>(history, [address, limit, offset])
      return rows.map(({ cbor }) => cbor)
    },

    async blockTransactions(headerHash) {
      const rows = await connection.query<{ transactionId: Uint8Array }>(blockTransactions, [headerHash])
      return rows.map(({ transactionId }) => transactionId)
    },
  }
}

function toStoredOutput({ transactionId, index, output }: OutputRow): StoredOutput {
  return { reference: { transactionId, index }, output }
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0
}
