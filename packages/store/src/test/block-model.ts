import type { OutputReference } from '@ratatosk/ledger'
import type { BlockState } from '@ratatosk/ports'
import type { AcceptedTransaction, LedgerEntry } from '../ledger/types.js'
import { entry, outputOf, walletOf } from './transactions.js'

export const alice = walletOf('alice')
export const genesis = Array.from({ length: 5 }, (_, index) => entry(outputOf('genesis', index), alice))

export interface ModelBlock {
  readonly name: string
  state: BlockState
  readonly contents: readonly AcceptedTransaction[]
  readonly isAdopted?: boolean
}

/** The expected content of the store, in plain data. */
export class Model {
  /** Every transaction in the order of acceptance; blocks hold the first of them and the mempool the rest. */
  accepted: readonly AcceptedTransaction[] = []
  /** The outputs that each transaction spends or reads, by its id. */
  readonly named = new Map<string, readonly OutputReference[]>()
  readonly chain: ModelBlock[] = []
  readonly removed = new Map<string, Pick<ModelBlock, 'contents' | 'isAdopted'>>()

  get mempool(): readonly AcceptedTransaction[] {
    return this.accepted.slice(this.chain.reduce((count, { contents }) => count + contents.length, 0))
  }

  get merged(): number {
    return this.chain.filter(({ state }) => state === 'merged').length
  }

  /** Unspent after these transactions. */
  static unspent(transactions: readonly AcceptedTransaction[]): Map<string, LedgerEntry> {
    const unspent = new Map(genesis.map((output) => [key(output.reference), output]))
    for (const { spent, produced } of transactions) {
      for (const reference of spent) unspent.delete(key(reference))
      for (const output of produced) unspent.set(key(output.reference), output)
    }
    return unspent
  }
}

export function key({ transactionId, index }: OutputReference): string {
  return `${Buffer.from(transactionId).toString('hex')}#${index}`
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
