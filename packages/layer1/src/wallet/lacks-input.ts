import { outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { CallOptions, Layer1 } from '../types.js'
import type { Wallet } from './open-wallet.js'

/**
 * Whether a transaction of a wallet can never be included: layer 1 does not know it, and another transaction
 * has spent what it spends, reads or gives as collateral. What transactions in flight make counts as there.
 *
 * @throws {Layer1Error} (rejects)
 */
export async function lacksInput(
  layer1: Pick<Layer1, 'status' | 'utxosByReferences'>,
  wallet: Pick<Wallet, 'isInFlight'>,
  { id, body: { inputs, referenceInputs, collateralInputs } }: Transaction,
  options?: CallOptions,
): Promise<boolean> {
  const needed = new Map(
    [...inputs, ...referenceInputs, ...collateralInputs]
      .filter(({ transactionId }) => !wallet.isInFlight(transactionId))
      .map((reference) => [outputReferenceKey(reference), reference]),
  )
  const found = await layer1.utxosByReferences([...needed.values()], options)
  return found.length < needed.size && (await layer1.status(id, options)).kind === 'unknown'
}
