import type { Log } from '@ratatosk/ports'
import type { SequencerError } from './errors.js'

/**
 * Milliseconds after which the log tells why a block waits: longer than the ordinary pause at the end of an
 * operator's turn.
 */
const toldAfterMs = 60_000

/** Tells in the log why a block that is due is not committed. Times are milliseconds of one clock. */
export interface WaitingBlocks {
  /** Records that a block waits: one line for each reason, once the block has waited for a minute. */
  waits(now: number, reason: SequencerError): void
  /** Records that no block waits any longer. */
  ended(): void
}

export function createWaitingBlocks(log: Log): WaitingBlocks {
  let since: number | undefined
  let told: string | undefined

  return {
    waits(now, { code, message }) {
      since ??= now
      if (now - since < toldAfterMs || code === told) return
      told = code
      log.info({ code }, `A block has waited for ${Math.round((now - since) / 1000)} s: ${message}`)
    },
    ended() {
      since = undefined
      told = undefined
    },
  }
}
