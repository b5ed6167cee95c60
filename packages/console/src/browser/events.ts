import { signal } from '@preact/signals'
import type { BlockEvent } from '@ratatosk/client'

/** What `/events` sends about a transaction or submission. */
export interface EventData {
  readonly txHash?: string
  readonly id?: string
  readonly code?: string
  readonly reason?: string
  readonly at: string
}

interface Listener {
  readonly accepted: (event: EventData) => void
  readonly rejected: (event: EventData) => void
  readonly block: (event: BlockEvent) => void
  /** What the watcher found about a block has changed. */
  readonly verdict: () => void
  /** Events come again; some may be lost. */
  readonly back: () => void
}

/** Whether events do not come: pages then only know what they read again and again. */
export const areEventsLost = signal(false)

/** After an answer such as 503, which ends an `EventSource`. */
const reopenMs = 5_000

/** Listens to the events of the node until the page is closed. */
export function listen(listener: Listener): void {
  open(listener, '')
}

/** @param from the position after which events are wanted; empty: from now on */
function open(listener: Listener, from: string): void {
  let position = from
  const events = new EventSource(from === '' ? 'events' : `events?after=${from}`)
  const hear = (type: string, take: (data: never) => void) =>
    events.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
      position = lastEventId
      take(JSON.parse(data) as never)
    })
  hear('accepted', listener.accepted)
  hear('rejected', listener.rejected)
  hear('block', listener.block)
  hear('verdict', listener.verdict)
  events.addEventListener('open', () => {
    if (!areEventsLost.value) return
    areEventsLost.value = false
    listener.back()
  })
  events.addEventListener('error', () => {
    areEventsLost.value = true
    // After a lost connection, the browser opens it again, from the last position.
    if (events.readyState === EventSource.CLOSED) setTimeout(open, reopenMs, listener, position)
  })
}
