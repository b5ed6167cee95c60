import { creditsJust, type Deposit, decodeHeader } from '@ratatosk/block'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { Block, CreditedDeposit } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'

/** A deposit, or a fee output, as the store credits it. */
export const creditedOf = ({ id, output }: Deposit): CreditedDeposit => ({
  id,
  output,
  address: decodeTransactionOutput(output).address.bytes,
})

/** Whether a block credits what layer 1 has for its time, as far as that is known. */
export async function creditsRightly(
  { events, store, signal }: Pick<SequencerContext, 'events' | 'store' | 'signal'>,
  { headerHash, header }: Pick<Block, 'headerHash' | 'header'>,
): Promise<boolean> {
  if (events === undefined) return true
  const fields = decodeHeader(header)
  const due = await events.between(fields.startTime, fields.endTime, signal)
  if (due === 'not read yet') return true
  return creditsJust(await store.blocks.depositsOf(headerHash), due, fields)
}
