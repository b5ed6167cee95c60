import { signal } from '@preact/signals'
import type { EventData } from './events.js'

/** The events of one kind that a list shows, the newest first. */
export function createEventList(most: number, keyOf: (event: EventData) => string | undefined) {
  const shown = signal<readonly EventData[]>([])
  /** The newest last. */
  let pending: EventData[] = []
  return {
    shown,
    /** Keeps an event until the list is changed. */
    add(event: EventData): void {
      pending.push(event)
      if (pending.length > most) pending.shift()
    },
    /** Puts what was kept into the list: each thing once, where it happened last. */
    show(): void {
      if (pending.length === 0) return
      const byKey = new Map<string | undefined, EventData>()
      for (const event of [...pending.reverse(), ...shown.value])
        if (!byKey.has(keyOf(event))) byKey.set(keyOf(event), event)
      pending = []
      shown.value = [...byKey.values()].slice(0, most)
    },
  }
}

/** A removed block's transaction is accepted again. */
export const accepted = createEventList(6, ({ txHash }) => txHash)
/** Apart from acceptances, hundreds of which may come while a rejection is to be seen. */
export const rejected = createEventList(4, ({ id }) => id)
