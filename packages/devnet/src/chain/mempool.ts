import { effects, outputReferenceKey, type TransactionOutput, type UtxoView } from '@ratatosk/ledger'
import type { ChainTransaction } from './types.js'

/** Transactions that wait for a block, in the order of their submission, and the outputs as they will be after them. */
export interface Mempool extends UtxoView {
  readonly size: number
  /** Bytes of all transactions. */
  readonly bytes: number
  has(hash: string): boolean
  transaction(hash: string): ChainTransaction | undefined
  transactions(): ChainTransaction[]
  /** What the waiting transactions make and do not spend themselves. */
  produced(): { readonly key: string; readonly output: TransactionOutput }[]
  add(transaction: ChainTransaction): void
  /** Begins anew with these. */
  reset(transactions: Iterable<ChainTransaction>): void
}

/** @param confirmed the unspent outputs of the chain */
export function createMempool(confirmed: UtxoView): Mempool {
  const waiting = new Map<string, ChainTransaction>()
  const spent = new Set<string>()
  const made = new Map<string, TransactionOutput>()
  let bytes = 0

  function add(chainTransaction: ChainTransaction): void {
    const change = effects(chainTransaction.transaction)
    for (const reference of change.spent) {
      const key = outputReferenceKey(reference)
      spent.add(key)
      made.delete(key)
    }
    for (const { reference, output } of change.produced) made.set(outputReferenceKey(reference), output)
    waiting.set(chainTransaction.hash, chainTransaction)
    bytes += chainTransaction.transaction.bytes.length
  }

  return {
    get size() {
      return waiting.size
    },
    get bytes() {
      return bytes
    },
    get: (key) => (spent.has(key) ? undefined : (made.get(key) ?? confirmed.get(key))),
    has: (hash) => waiting.has(hash),
    transaction: (hash) => waiting.get(hash),
    transactions: () => [...waiting.values()],
    produced: () => Array.from(made, ([key, output]) => ({ key, output })),
    add,
    reset(transactions) {
      waiting.clear()
      spent.clear()
      made.clear()
      bytes = 0
      for (const transaction of transactions) add(transaction)
    },
  }
}
