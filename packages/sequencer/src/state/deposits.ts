import { type Deposit, type Header, sameDeposits } from '@ratatosk/block'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { CreditedDeposit } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'

/** A deposit as the store credits it. */
export const creditedOf = ({ id, output }: Deposit): CreditedDeposit => ({
  id,
  output,
  address: decodeTransactionOutput(output).address.bytes,
})

/** Whether a block credits what layer 1 has for its time, as far as that is known. */
export async function creditsRightly(
  { events, store, signal }: Pick<SequencerContext, 'events' | 'store' | 'signal'>,
  {
    headerHash,
    startTime,
    endTime,
  }: Pick<Header, 'startTime' | 'endTime'> & { readonly headerHash: Uint8Array },
): Promise<boolean> {
  if (events === undefined) return true
  const due = await events.between(startTime, endTime, signal)
  if (due === 'not read yet') return true
  return sameDeposits(await store.blocks.depositsOf(headerHash), due)
}
