import { setTimeout as pause } from 'node:timers/promises'
import { Layer1Error } from '../errors.js'
import { isPassing, isTimeout } from '../http/retry.js'
import type { Confirmation, TransactionStatus } from '../types.js'

export interface Watched {
  readonly provider: string
  readonly pollMs: number
  status(signal: AbortSignal): Promise<TransactionStatus>
}

/** Polls for a transaction; failed polls are repeated. `signal`: a time-out is `timeout`, else its reason. */
export async function awaitTransaction(
  { provider, pollMs, status }: Watched,
  confirmations: number,
  signal: AbortSignal,
): Promise<Confirmation> {
  let seen = false
  let missed = 0
  let failure: Layer1Error | undefined
  for (;;) {
    try {
      const found = await status(signal)
      failure = undefined
      if (found.kind === 'confirmed') {
        if (found.confirmations >= confirmations) {
          return { slot: found.slot, blockHash: found.blockHash, confirmations: found.confirmations }
        }
        seen = true
        missed = 0
      } else if (seen && ++missed > 1) {
        // Twice, because one server behind a provider may lag by a block.
        throw new Layer1Error('LAYER1_ROLLED_BACK', 'The block of the transaction is no longer on the chain')
      }
    } catch (error) {
      if (signal.aborted) throw ended(signal, provider, failure)
      if (!isPassing(error)) throw error
      failure = error
    }
    try {
      await pause(pollMs, undefined, { signal })
    } catch {
      throw ended(signal, provider, failure)
    }
  }
}

function ended(signal: AbortSignal, provider: string, failure: Layer1Error | undefined): unknown {
  if (!isTimeout(signal.reason)) return signal.reason
  const last = failure === undefined ? '' : `; the last poll failed: ${failure.code}`
  return new Layer1Error('LAYER1_TIMEOUT', `${provider} did not confirm the transaction in time${last}`)
}
