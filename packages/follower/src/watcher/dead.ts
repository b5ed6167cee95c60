import { equalBytes } from '@ratatosk/cbor'
import { missingInputs } from '@ratatosk/layer1'
import type { Transaction } from '@ratatosk/ledger'
import type { WatcherContext } from './context.js'

/** Whether an unknown transaction has expired. `perhaps`: the answer may be older than the tip. */
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

/** Whether another included transaction uses one of its inputs. A missing output proves nothing. */
export async function isOvertaken(
  { layer1, wallet, signal }: WatcherContext,
  transaction: Transaction,
): Promise<boolean> {
  const missing = await missingInputs(layer1, (id) => wallet.isInFlight(id), transaction, { signal })
  for (const reference of missing) {
    const spending = await layer1.spending(reference, { signal })
    if (spending !== undefined && !equalBytes(spending.transactionId, transaction.id)) return true
  }
  return false
}
