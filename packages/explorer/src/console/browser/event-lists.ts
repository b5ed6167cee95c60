import { signal } from '@preact/signals'
import type { AcceptedEvent, RejectedEvent } from '@ratatosk/client'

/** The events of one kind that a list shows, the newest first. */
export function createEventList<Event>(most: number, keyOf: (event: Event) => string | undefined) {
  const shown = signal<readonly Event[]>([])
  /** The newest last. */
  let pending: Event[] = []
  return {
    shown,
    /** Keeps an event until the list is changed. */
    add(event: Event): void {
      pending.push(event)
      if (pending.length > most) pending.shift()
    },
    /** Puts what was kept into the list: each thing once, where it happened last. */
    show(): void {
      if (pending.length === 0) return
      const byKey = new Map<string | undefined, Event>()
      for (const event of [...pending.reverse(), ...shown.value])
        if (!byKey.has(keyOf(event))) byKey.set(keyOf(event), event)
      pending = []
      shown.value = [...byKey.values()].slice(0, most)
    },
  }
}

/** A removed block's transaction is accepted again. */
export const accepted = createEventList<AcceptedEvent>(6, ({ txHash }) => txHash)
/** Apart from acceptances, hundreds of which may come while a rejection is to be seen. */
export const rejected = createEventList<RejectedEvent>(4, ({ id }) => id)
