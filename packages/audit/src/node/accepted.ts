import { hashIn } from './answers.js'
import type { NodeClient } from './node-client.js'

/** Milliseconds in which the events of a node must come to their head; comparing them does not count. */
const longestWaitMs = 300_000

/** Ids of the transactions that a node says to have accepted until now, from its events. */
export async function* acceptedBy(client: Pick<NodeClient, 'readEvents'>): AsyncGenerator<string, void> {
  const stop = new AbortController()
  const events = client.readEvents({ type: 'accepted' }, { signal: stop.signal })
  let left = longestWaitMs
  try {
    for (;;) {
      const since = performance.now()
      const late = setTimeout(() => stop.abort(new Error('its events do not end')), left)
      const next = await events.next().finally(() => clearTimeout(late))
      left -= performance.now() - since
      if (next.done === true) return
      const { type, data } = next.value
      if (type === 'accepted') yield hashIn(data, 'txHash', 64)
    }
  } finally {
    stop.abort()
  }
}
