import { type Database, schema, sql, statement } from '@ratatosk/database'
import { mempoolTransactions } from '../schema/tables.js'
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
  | 'history'
  | 'historyPages'
  | 'blockTransactions'
  | 'blockTransactionPages'
>

const transaction = statement(
  { cbor: mempoolTransactions.cbor },
  sql`SELECT cbor FROM ${schema}.mempool_transactions WHERE transaction_id = $1
  UNION ALL
  SELECT cbor FROM ${schema}.block_transactions WHERE transaction_id = $1
  LIMIT 1`,
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
