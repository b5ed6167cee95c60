import { effects, outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import { createAccounts } from './accounts.js'
import type { LedgerView } from './rules.js'
import type { ChainTransaction } from './types.js'

/** Transactions that wait for a block, in the order of their submission, and the ledger as it will be after them. */
export interface Mempool extends LedgerView {
  has(hash: string): boolean
  transaction(hash: string): ChainTransaction | undefined
  transactions(): ChainTransaction[]
  add(transaction: ChainTransaction): void
  /** Begins anew with these. */
  reset(transactions: Iterable<ChainTransaction>): void
}

/** @param confirmed the ledger as the chain has it */
export function createMempool(confirmed: LedgerView, keyDeposit: bigint): Mempool {
  const waiting = new Map<string, ChainTransaction>()
  const spent = new Set<string>()
  const made = new Map<string, TransactionOutput>()
  let accounts = createAccounts(keyDeposit, confirmed)

  function add(chainTransaction: ChainTransaction): void {
    const change = effects(chainTransaction.transaction)
    for (const reference of change.spent) {
      const key = outputReferenceKey(reference)
      spent.add(key)
      made.delete(key)
    }
    for (const { reference, output } of change.produced) made.set(outputReferenceKey(reference), output)
    waiting.set(chainTransaction.hash, chainTransaction)
    accounts.apply(chainTransaction.transaction)
  }

  return {
    get: (key) => (spent.has(key) ? undefined : (made.get(key) ?? confirmed.get(key))),
    deposit: (credential) => accounts.deposit(credential),
    has: (hash) => waiting.has(hash),
    transaction: (hash) => waiting.get(hash),
    transactions: () => [...waiting.values()],
    add,
    reset(transactions) {
      waiting.clear()
      spent.clear()
      made.clear()
      accounts = createAccounts(keyDeposit, confirmed)
      for (const transaction of transactions) add(transaction)
    },
  }
}
