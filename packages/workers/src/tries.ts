/** How often a transaction whose failure may be transient is validated; then it is a dead letter. */
export interface Tries {
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
