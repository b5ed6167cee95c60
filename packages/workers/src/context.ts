import {
  forecastHorizon,
  type ProtocolParameters,
  type RuleContext,
  type SlotConfig,
  timeToSlot,
} from '@ratatosk/ledger'
import type { Store } from '@ratatosk/store'

interface ContextOptions {
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slots: SlotConfig
}

/**
 * The rules for new transactions at a time. Blocks are judged without the horizon of layer 1, which no fraud
 * proof knows: only what enters the mempool keeps it.
 *
 * @param now POSIX milliseconds
 */
export function contextAt({ parameters, networkId, slots }: ContextOptions, now: number): RuleContext {
  const slot = timeToSlot(slots, BigInt(now))
  return { parameters, networkId, slot, forecastHorizon: forecastHorizon(slot) }
}

const freshForMs = 250

/** When the next block begins, but not in the past: POSIX milliseconds. */
interface BlockTime {
  /** Reads the newest block, at most every 250 ms. A failure keeps what is known. */
  refresh(): Promise<void>
  now(): number
}

/**
 * A block ends up to its validity after it was committed, and the next one begins there: transactions are
 * judged as of that end.
 */
export function followBlockTime(blocks: Pick<Store['blocks'], 'newest'>, clock: () => number): BlockTime {
  let end = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  async function read(): Promise<void> {
    try {
      end = Number((await blocks.newest())?.endTime ?? 0n)
    } catch {
      // The next read of the ledger says that the store fails.
    }
    readAt = performance.now()
    reading = undefined
  }
  return {
    async refresh() {
      if (performance.now() - readAt < freshForMs) return
      reading ??= read()
      await reading
    },
    now: () => Math.max(clock(), end),
  }
}

/** How often a transaction whose failure may be transient is validated; then it is a dead letter. */
interface Tries {
  readonly maxAttempts: number
  /** Milliseconds until the next attempt, after so many. */
  backoff(attempts: number): number
}

/** The longest delay, in milliseconds. */
const maxBackoffMs = 60_000

export const triesOf = ({ maxAttempts = 5, backoffMs = 250 }): Tries => ({
  maxAttempts,
  backoff: (attempts) => Math.min(backoffMs * 2 ** (attempts - 1), maxBackoffMs),
})

/** Slots until the last try of a transaction, and as many again for deliveries that are late. */
export function slotsOfTries({ maxAttempts, backoff }: Tries, slotLength: number): bigint {
  let tries = 0
  for (let past = 1; past < maxAttempts; past++) tries += backoff(past)
  return BigInt(Math.ceil((2 * tries) / slotLength) + 2)
}
