import { type Database, schema, sql, statement } from '@ratatosk/database'
import { mempoolTransactions } from '../schema/tables.js'
import type { Store } from '../store.js'
import { openHistory } from './address-history.js'
import { blockTransactionPages } from './block-transactions.js'
import { placeOfTransaction, placesOfTransactions } from './place-of-transaction.js'
import { utxoPages } from './unspent-outputs.js'

type Queries = Pick<
  Store,
  'transaction' | 'placeOf' | 'placesOf' | 'utxoPages' | 'historyPages' | 'blockTransactionPages'
>

const transaction = statement(
  { cbor: mempoolTransactions.cbor },
  sql`SELECT cbor FROM ${schema}.mempool_transactions WHERE transaction_id = $1
  UNION ALL
  SELECT cbor FROM ${schema}.block_transactions WHERE transaction_id = $1
  LIMIT 1`,
)

export function openQueries(database: Database): Queries {
  return {
    async transaction(id) {
      const [row] = await database.query(transaction, [id])
      return row?.cbor
    },

    placeOf: (id) => placeOfTransaction(database, id),
    placesOf: (ids) => placesOfTransactions(database, ids),

    utxoPages: (address) => utxoPages(database, address),

    historyPages: openHistory(database),

    blockTransactionPages: (headerHash) => blockTransactionPages(database, headerHash),
  }
}
