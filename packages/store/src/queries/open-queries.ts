import type { Database } from '../database/connection.js'
import { type Row, selectList, statement } from '../database/statement.js'
import { mempoolLedger, mempoolTransactions } from '../schema/tables.js'
import type { Store } from '../store.js'
import { openHistory } from './address-history.js'
import { blockTransactionPages } from './block-transactions.js'
import { placeOfTransaction } from './place-of-transaction.js'
import { utxoPages } from './unspent-outputs.js'

type Queries = Pick<
  Store,
  | 'transaction'
  | 'placeOf'
  | 'utxosAt'
  | 'utxoPages'
  | 'utxosByPaymentCredential'
  | 'history'
  | 'historyPages'
  | 'blockTransactions'
  | 'blockTransactionPages'
>

const transaction = statement(
  { cbor: mempoolTransactions.cbor },
  `SELECT cbor FROM ratatosk.mempool_transactions WHERE transaction_id = $1
  UNION ALL
  SELECT cbor FROM ratatosk.block_transactions WHERE transaction_id = $1
  LIMIT 1`,
)

const output = {
  transactionId: mempoolLedger.transactionId,
  index: mempoolLedger.outputIndex,
  output: mempoolLedger.output,
}
const utxosByPaymentCredential = statement(
  output,
  `SELECT ${selectList(output)} FROM ratatosk.mempool_ledger WHERE payment_credential = $1
  ORDER BY sequence, output_index`,
)

/** What clients ask about transactions, addresses and blocks. */
export function openQueries(database: Database): Queries {
  const historyPages = openHistory(database)
  return {
    async transaction(id) {
      const [row] = await database.query(transaction, [id])
      return row?.cbor
    },

    placeOf: (id) => placeOfTransaction(database, id),

    utxosAt: (address) => collect(utxoPages(database, address)),
    utxoPages: (address) => utxoPages(database, address),

    async utxosByPaymentCredential(hash) {
      const rows: Row<typeof output>[] = await database.query(utxosByPaymentCredential, [hash])
      return rows.map(({ transactionId, index, output }) => ({ reference: { transactionId, index }, output }))
    },

    history: (address, page) => collect(historyPages(address, page)),
    historyPages,

    blockTransactions: (headerHash) => collect(blockTransactionPages(database, headerHash)),
    blockTransactionPages: (headerHash) => blockTransactionPages(database, headerHash),
  }
}

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) for (const entry of page) all.push(entry)
  return all
}
