import { type OutputReference, outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { CallOptions, Layer1 } from '../types.js'
import type { Wallet } from './open-wallet.js'

/**
 * The spent, read or collateral outputs of a transaction that layer 1 does not show. Outputs of transactions
 * in flight count as shown.
 *
 * @throws {Layer1Error} (rejects)
 */
export async function missingInputs(
  layer1: Pick<Layer1, 'utxosByReferences'>,
  isInFlight: (transactionId: Uint8Array) => boolean,
  { body: { inputs, referenceInputs, collateralInputs } }: Pick<Transaction, 'body'>,
  options?: CallOptions,
): Promise<OutputReference[]> {
  const needed = new Map(
    [...inputs, ...referenceInputs, ...collateralInputs]
      .filter(({ transactionId }) => !isInFlight(transactionId))
      .map((reference) => [outputReferenceKey(reference), reference]),
  )
  const found = await layer1.utxosByReferences([...needed.values()], options)
  for (const { reference } of found) needed.delete(outputReferenceKey(reference))
  return [...needed.values()]
}

/**
 * Whether a transaction that layer 1 has refused is given up: layer 1 does not know it, and does not show all
 * of its inputs, see {@link missingInputs}.
 *
 * @throws {Layer1Error} (rejects)
 */
export async function lacksInput(
  layer1: Pick<Layer1, 'status' | 'utxosByReferences'>,
  wallet: Pick<Wallet, 'isInFlight'>,
  transaction: Pick<Transaction, 'id' | 'body'>,
  options?: CallOptions,
): Promise<boolean> {
  const missing = await missingInputs(layer1, (id) => wallet.isInFlight(id), transaction, options)
  return missing.length > 0 && (await layer1.status(transaction.id, options)).kind === 'unknown'
}
