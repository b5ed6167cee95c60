import { StoreError } from '../errors.js'
import type { AcceptedTransaction, LedgerEntry, OutputReference } from '../types.js'

/** An output that the batch takes out of the ledger. Transactions are given by their positions, counted from 1. */
export interface SpentReference {
  readonly reference: OutputReference
  readonly position: number
}

export interface ProducedOutput {
  readonly entry: LedgerEntry
  readonly madeBy: number
  /** The transaction of the same batch that spends it. */
  spentBy?: number
}

export interface NetEffect {
  readonly spent: readonly SpentReference[]
  readonly produced: readonly ProducedOutput[]
}

/** Tells outputs that are spent where they are made, within the batch, from those that change the ledger. */
export function netEffect(transactions: readonly AcceptedTransaction[]): NetEffect {
  const spent = new Map<string, SpentReference>()
  const produced = new Map<string, ProducedOutput>()
  transactions.forEach((transaction, before) => {
    const position = before + 1
    for (const reference of transaction.spent) {
      const key = keyOf(reference)
      const own = produced.get(key)
      if (spent.has(key) || own?.spentBy !== undefined) throw invalid('spends an output twice')
      if (own === undefined) spent.set(key, { reference, position })
      else own.spentBy = position
    }
    for (const entry of transaction.produced) {
      const key = keyOf(entry.reference)
      if (produced.has(key)) throw invalid('makes an output twice')
      if (spent.has(key)) throw invalid('spends an output before it makes it')
      produced.set(key, { entry, madeBy: position })
    }
  })
  return { spent: [...spent.values()], produced: [...produced.values()] }
}

function keyOf({ transactionId, index }: OutputReference): string {
  const { buffer, byteOffset, byteLength } = transactionId
  return `${Buffer.from(buffer, byteOffset, byteLength).toString('latin1')}#${index}`
}

function invalid(what: string): StoreError {
  return new StoreError('STORE_INVALID_ARGUMENT', `The batch ${what}`)
}
