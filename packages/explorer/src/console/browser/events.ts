import { signal } from '@preact/signals'
import type { AcceptedEvent, BlockEvent, RejectedEvent } from '@ratatosk/client'
import { AnswerError } from './api.js'
import { readStream, type StreamMessage } from './stream.js'

interface Listener {
  readonly accepted: (event: AcceptedEvent) => void
  readonly rejected: (event: RejectedEvent) => void
  readonly block: (event: BlockEvent) => void
  /** The watcher's verdict about a block has changed. */
  readonly verdict: () => void
  /** Events come from now on. The state read before may be older than the first of them. */
  readonly begun: () => void
}

/** Whether events do not come: pages then only know what they read again and again. */
export const areEventsLost = signal(false)

/** Milliseconds that a node or a proxy may ask to wait, at most: the page may be closed by then. */
const longest = 300_000

/** Milliseconds until the next stream: after one that has ended, and after a refusal such as 503. */
const defaultWaits = { ended: 1_000, refused: 5_000 }

/** A browser opens six connections to a node: a page that is hidden leaves them to others. */
async function untilShown(): Promise<AbortController> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
  const hidden = new AbortController()
  document.addEventListener('visibilitychange', () => hidden.abort(), { signal: hidden.signal })
  return hidden
}

/** Listens to the events of the node until the page is closed, to each once; while it is hidden, to none. */
export async function listen(listener: Listener, { ended, refused } = defaultWaits): Promise<never> {
  // An `EventSource` keeps the position from a page that has received no event yet.
  let position = ''
  for (;;) {
    let wait = ended
    let hasBegun = false
    const hidden = await untilShown()
    const take = (message: StreamMessage): false => {
      if (message.id !== '') position = message.id
      const isFirst = !hasBegun
      hasBegun = true
      areEventsLost.value = false
      // A fault of the page is no fault of the stream: the browser reports it, and the next message comes.
      try {
        if (isFirst) listener.begun()
        hear(message, listener)
      } catch (error) {
        reportError(error)
      }
      return false
    }
    try {
      await readStream(position === '' ? 'events' : `events?after=${position}`, take, hidden.signal)
    } catch (error) {
      if (error instanceof AnswerError) wait = Math.min(Math.max(refused, error.retryAfterMs ?? 0), longest)
    }
    if (hidden.signal.aborted) continue
    hidden.abort()
    areEventsLost.value = true
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

function hear({ event, data }: StreamMessage, { accepted, rejected, block, verdict }: Listener): void {
  if (event === 'accepted') accepted(JSON.parse(data))
  else if (event === 'rejected') rejected(JSON.parse(data))
  else if (event === 'block') block(JSON.parse(data))
  else if (event === 'verdict') verdict()
}
