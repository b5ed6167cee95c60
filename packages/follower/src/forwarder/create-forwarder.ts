import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPages } from './pages.js'
import { openPeer, type PeerNode } from './peer.js'
import type { Forwarder, ForwarderOptions, ForwardOutcome } from './types.js'

/**
 * Gives the mempool to other nodes, to each at its own pace, and again until a block has it. Keeps nothing
 * but a place in the mempool for each peer, and when to ask it again.
 *
 * @throws TypeError for an invalid URL
 * @example
 * const forwarder = createForwarder({ mempool: store.blocks, peers, isNeeded: () => true, log: console })
 * await forwarder.close() // before the store
 */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { log, timeoutMs = 10_000, concurrency = 32 } = options
  const closing = new AbortController()
  // One listener for each running request.
  setMaxListeners(0, closing.signal)
  const counts: Record<ForwardOutcome, number> = { delivered: 0, known: 0, refused: 0, failed: 0 }
  const peers = [...new Set(options.peers)].map((address) => openPeer(address, timeoutMs, concurrency))

  async function serve(peer: PeerNode): Promise<void> {
    const givePage = openPages(peer, options, counts, closing.signal)
    let reported = ''
    while (!closing.signal.aborted) {
      let waitMs = 1000
      try {
        waitMs = await givePage()
        reported = ''
      } catch (error) {
        const reason = String(error)
        if (reason !== reported && !closing.signal.aborted)
          log.warn({ peer: peer.name, reason }, 'The mempool cannot be read: nothing is forwarded')
        reported = reason
      }
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const running = Promise.all(peers.map(serve))
  return {
    counts: () => ({ ...counts }),
    async close() {
      closing.abort()
      await running
      for (const peer of peers) peer.close()
    },
  }
}
