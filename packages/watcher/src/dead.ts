import { equalBytes } from '@ratatosk/cbor'
import { outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { WatcherContext } from './context.js'

/**
 * Whether the validity of a transaction that the provider does not know is over. `perhaps`: the answer may be
 * older than the tip, and the transaction included.
 *
 * @param slot of layer 1's tip
 */
export async function isExpired(
  { layer1, signal, lagMs }: WatcherContext,
  { body: { validityInterval } }: Transaction,
  slot: bigint,
): Promise<'yes' | 'perhaps' | 'no'> {
  const { invalidHereafter } = validityInterval
  if (invalidHereafter === undefined || slot < invalidHereafter) return 'no'
  const { slotLength } = await layer1.slots({ signal })
  return slot >= invalidHereafter + BigInt(Math.ceil(lagMs / slotLength)) ? 'yes' : 'perhaps'
}

/**
 * Whether another transaction in a block spends what a transaction spends, reads or gives as collateral. That
 * the provider does not show an output is not enough: it may not show it yet.
 */
export async function isOvertaken(
  { layer1, wallet, signal }: WatcherContext,
  { id, body: { inputs, referenceInputs, collateralInputs } }: Transaction,
): Promise<boolean> {
  const needed = new Map(
    [...inputs, ...referenceInputs, ...collateralInputs]
      .filter(({ transactionId }) => !wallet.isInFlight(transactionId))
      .map((reference) => [outputReferenceKey(reference), reference]),
  )
  const found = await layer1.utxosByReferences([...needed.values()], { signal })
  for (const { reference } of found) needed.delete(outputReferenceKey(reference))
  for (const reference of needed.values()) {
    const spending = await layer1.spending(reference, { signal })
    if (spending !== undefined && !equalBytes(spending.transactionId, id)) return true
  }
  return false
}
