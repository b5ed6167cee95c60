import { type BytesMap, toHex } from '@ratatosk/cbor'
import { shareAnswers } from '@ratatosk/http'
import type { OwedReader } from '@ratatosk/sequencer/settler'

/** Reads which withdrawals of a merged block layer 1 has not paid, and what has paid the others. */
export type Remaining = Pick<OwedReader, 'remaining' | 'payouts'>

/** Milliseconds for which readers share an answer, because it may have to be read from layer 1. */
const freshMs = 500

/** Shares answers among all clients, so that none can end the read of another. */
export function shareOwed(owed: Remaining): Remaining {
  const share = shareAnswers<ReadonlySet<string> | undefined>(freshMs)
  const sharePayouts = shareAnswers<Pick<BytesMap<Uint8Array>, 'get'>>(freshMs)
  return {
    remaining: (headerHash) => share(toHex(headerHash), () => owed.remaining(headerHash)),
    payouts: (headerHash) => sharePayouts(toHex(headerHash), () => owed.payouts(headerHash)),
  }
}
