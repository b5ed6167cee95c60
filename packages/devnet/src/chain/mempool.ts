import { effects, outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import { createAccounts } from './accounts.js'
import type { LedgerView } from './rules.js'
import type { DevnetTransaction } from './types.js'

/**
 * The pending transactions in order of acceptance, and the ledger after applying them.
 *
 * @param confirmed the ledger of the confirmed chain
 */
export function createMempool(confirmed: LedgerView, keyDeposit: bigint) {
  const pending = new Map<string, DevnetTransaction>()
  const spent = new Set<string>()
  const produced = new Map<string, TransactionOutput>()
  let accounts = createAccounts(keyDeposit, confirmed)

  function add(chainTransaction: DevnetTransaction): void {
    const change = effects(chainTransaction.transaction)
    for (const reference of change.spent) {
      const key = outputReferenceKey(reference)
      spent.add(key)
      produced.delete(key)
    }
    for (const { reference, output } of change.produced) produced.set(outputReferenceKey(reference), output)
    pending.set(chainTransaction.hash, chainTransaction)
    accounts.apply(chainTransaction.transaction)
  }

  return {
    get: (key: string) => (spent.has(key) ? undefined : (produced.get(key) ?? confirmed.get(key))),
    deposit: (credential: string) => accounts.deposit(credential),
    has: (hash: string) => pending.has(hash),
    transaction: (hash: string) => pending.get(hash),
    transactions: () => [...pending.values()],
    add,
    /** Replaces the contents. */
    reset(transactions: Iterable<DevnetTransaction>): void {
      pending.clear()
      spent.clear()
      produced.clear()
      accounts = createAccounts(keyDeposit, confirmed)
      for (const transaction of transactions) add(transaction)
    },
  }
}
