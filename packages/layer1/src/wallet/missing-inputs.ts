import { type OutputReference, outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { CallOptions, Layer1 } from '../types.js'

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
