import type { EventFilter, EventPosition, LedgerEvent } from '@ratatosk/ports'
import type { Store } from '../store.js'

const start: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }

interface Reading {
  readonly after?: EventPosition
  readonly filter?: EventFilter
  /** Events of each kind in a page. */
  readonly limit?: number
}

/** What has happened since a position, page by page. */
export async function readEvents(
  { events }: Store,
  { after = start, filter = {}, limit = 1_000 }: Reading = {},
): Promise<LedgerEvent[]> {
  const to = await events.head()
  const found: LedgerEvent[] = []
  for (let position = after; ; ) {
    const page = await events.read({ after: position, to, filter, limit })
    found.push(...page.events)
    if (same(page.position, position)) return found
    position = page.position
  }
}

/** The ids of accepted transactions, in the order of the events. */
export const acceptedIn = (events: readonly LedgerEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === 'accepted' ? Buffer.from(event.transactionId).toString('hex') : [],
  )

/** A client of the event log that resumes from the last event that it has. */
export class EventReader {
  /** How often each transaction was reported as accepted, by hex id. */
  readonly told = new Map<string, number>()
  #position = start
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  async resume(store: Store): Promise<void> {
    const events = await readEvents(store, { after: this.#position, limit: this.#limit })
    for (const id of acceptedIn(events)) this.told.set(id, (this.told.get(id) ?? 0) + 1)
    this.#position = events.at(-1)?.position ?? this.#position
  }
}

const same = (one: EventPosition, other: EventPosition): boolean =>
  (['accepted', 'rejected', 'block', 'verdict'] as const).every((kind) => one[kind] === other[kind])
