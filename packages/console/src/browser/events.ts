import { signal } from '@preact/signals'

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
  readonly block: () => void
  /** Events come again; some may be lost. */
  readonly back: () => void
}

/** Whether events do not come: pages then only know what they read again and again. */
export const areEventsLost = signal(false)

/** After an answer such as 503, which ends an `EventSource`. */
const reopenMs = 5_000

/** Listens to the events of the node until the page is closed. */
export function listen(listener: Listener): void {
  const events = new EventSource('events')
  events.addEventListener('accepted', ({ data }) => listener.accepted(JSON.parse(data)))
  events.addEventListener('rejected', ({ data }) => listener.rejected(JSON.parse(data)))
  events.addEventListener('block', listener.block)
  events.addEventListener('open', () => {
    if (!areEventsLost.value) return
    areEventsLost.value = false
    listener.back()
  })
  events.addEventListener('error', () => {
    areEventsLost.value = true
    // After a lost connection, the browser opens it again.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, reopenMs, listener)
  })
}
