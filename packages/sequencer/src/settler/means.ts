import type { Layer1, Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import type { BuiltTransaction, TransactionDraft } from '@ratatosk/ledger/builder'
import type { Batches } from './batches.js'
import type { BridgeContracts } from './types.js'

/** The means to build payouts. */
export interface PayoutMeans {
  readonly contracts: BridgeContracts
  readonly layer1: Pick<Layer1, 'utxosByPolicy' | 'utxosByUnit'>
  readonly wallet: Wallet
  readonly batches: Batches
  readonly referenceScripts: readonly Utxo[]
  readonly validUntil: bigint
  readonly signal: AbortSignal
}

/** Builds a transaction of the settler's wallet. */
export function build(
  { wallet, validUntil, signal }: PayoutMeans,
  draft: TransactionDraft,
): Promise<BuiltTransaction> {
  return wallet.build({ validUntil, ...draft }, { signal })
}
