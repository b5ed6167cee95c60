import type { CreditedDeposit } from '../blocks/types.js'
import type { LedgerEntry } from '../ledger/types.js'
import { entry, idOf, type Wallet } from './transactions.js'

/** A deposit of layer 1 for a wallet. */
export function deposit(name: string, wallet: Wallet): CreditedDeposit {
  const id = idOf(name)
  const { output, address } = entry({ transactionId: id, index: 0 }, wallet)
  return { id, output, address }
}

/** The output that a deposit becomes. */
export const creditedOutput = ({ id, output, address }: CreditedDeposit): LedgerEntry => ({
  reference: { transactionId: id, index: 0 },
  output,
  address,
})
