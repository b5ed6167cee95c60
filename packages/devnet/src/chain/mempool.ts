import { effects, outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import { createAccounts } from './accounts.js'
import type { LedgerView } from './rules.js'
import type { DevnetTransaction } from './types.js'

/** The pending transactions in order of acceptance, and the ledger after applying them. */
interface DevnetMempool extends LedgerView {
  has(hash: string): boolean
  transaction(hash: string): DevnetTransaction | undefined
  transactions(): DevnetTransaction[]
  add(transaction: DevnetTransaction): void
  /** Replaces the contents. */
  reset(transactions: Iterable<DevnetTransaction>): void
}

/** @param confirmed the ledger of the confirmed chain */
export function createMempool(confirmed: LedgerView, keyDeposit: bigint): DevnetMempool {
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
    get: (key) => (spent.has(key) ? undefined : (produced.get(key) ?? confirmed.get(key))),
    deposit: (credential) => accounts.deposit(credential),
    has: (hash) => pending.has(hash),
    transaction: (hash) => pending.get(hash),
    transactions: () => [...pending.values()],
    add,
    reset(transactions) {
      pending.clear()
      spent.clear()
      produced.clear()
      accounts = createAccounts(keyDeposit, confirmed)
      for (const transaction of transactions) add(transaction)
    },
  }
}
