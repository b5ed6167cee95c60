import type { Store } from '@ratatosk/store'
import type { LedgerQueries } from '@ratatosk/tx-query'

/** The reads of `/tx`, `/txs`, `/utxos` and `/block`, by pages: long answers need little memory. */
export function ledgerOf(store: Store): LedgerQueries {
  return {
    transaction: (id) => store.transaction(id),
    history: (address, page) => store.historyPages(address, page),
    utxosAt: (address) => store.utxoPages(address),
    blockTransactions: (headerHash) => store.blockTransactionPages(headerHash),
  }
}
