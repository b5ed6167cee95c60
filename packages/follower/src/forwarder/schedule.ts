import { BytesMap } from '@ratatosk/cbor'

/** Upper bound of the interval in which a peer is asked again for a transaction, in milliseconds. */
const maxRepeatMs = 300_000
/** Transactions that are remembered for a peer, about 4 MB. The rest is asked for in every round. */
const maxEntries = 20_000

/** When a peer may be asked again for which transaction: at intervals that double. */
export interface Schedule {
  isDue(id: Uint8Array, now: number): boolean
  /** @param answered whether the peer has answered */
  asked(id: Uint8Array, now: number, answered: boolean): void
  /** Asks at once for those for which the peer has not answered one time. */
  forgive(): void
  /** Whether the peer has not answered for it twice in a row: perhaps it never does. */
  isDoubtful(id: Uint8Array): boolean
}

/** @param repeatMs the first interval */
export function createSchedule(repeatMs: number): Schedule {
  const entries = new BytesMap<{ due: number; waitMs: number; unanswered: number }>()
  return {
    isDue: (id, now) => (entries.get(id)?.due ?? 0) <= now,
    asked(id, now, answered) {
      const before = entries.get(id)
      const waitMs = Math.min((before?.waitMs ?? repeatMs / 2) * 2, maxRepeatMs)
      const unanswered = answered ? 0 : (before?.unanswered ?? 0) + 1
      // The newest comes last.
      entries.delete(id)
      entries.set(id, { due: now + waitMs, waitMs, unanswered })
      const [oldest] = entries.keys()
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    },
    forgive() {
      for (const entry of entries.values()) if (entry.unanswered === 1) entry.due = 0
    },
    isDoubtful: (id) => (entries.get(id)?.unanswered ?? 0) > 1,
  }
}
