import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { chainWith } from '../test/served-chain.js'
import type { ChainChange, MempoolEntry } from '../view/chain-view.js'
import { createMempoolFeed } from './mempool-feed.js'
import { createMempoolMonitor } from './session.js'

/** A chain whose mempool grows by one transaction with each call of `accept`. */
function growingChain() {
  const entries: MempoolEntry[] = []
  const listeners = new Set<(change: ChainChange) => void>()
  let reads = 0
  const chain = chainWith({
    async mempool() {
      reads++
      await delay(5)
      return [...entries]
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  return {
    chain,
    listeners,
    reads: () => reads,
    accept() {
      entries.push({ hash: String(entries.length).padStart(64, '0'), bytes: 200 })
      for (const listener of listeners) listener({ type: 'transaction' })
    },
  }
}

it('reads the mempool once a change for all connections', async () => {
  const { chain, listeners, reads, accept } = growingChain()
  const feed = createMempoolFeed(chain)
  const monitors = Array.from({ length: 50 }, () => createMempoolMonitor(chain, feed))
  await Promise.all(monitors.map((monitor) => monitor.acquireMempool()))
  expect(reads()).toBe(1)
  expect(listeners.size).toBe(1)
  const next = monitors.map((monitor) => monitor.acquireMempool())
  accept()
  await Promise.all(next)
  expect(reads()).toBe(2)
  expect(monitors[7]?.sizeOfMempool()).toMatchObject({
    currentSize: { bytes: 200 },
    transactions: { count: 1 },
  })
  for (const monitor of monitors) monitor.close()
  expect(listeners.size).toBe(0)
})

it('reads at most once per 250 ms and loses no change', async () => {
  const { chain, reads, accept } = growingChain()
  const feed = createMempoolFeed(chain)
  const monitor = createMempoolMonitor(chain, feed)
  await monitor.acquireMempool()
  const started = performance.now()
  const changes = setInterval(accept, 10)
  const counts: number[] = []
  const watching = (async () => {
    for (let round = 0; round < 3; round++) {
      await monitor.acquireMempool()
      counts.push((await feed.read()).entries.length)
    }
  })()
  await watching
  clearInterval(changes)
  expect(reads()).toBeLessThanOrEqual(2 + (performance.now() - started) / 250)
  // Also one that comes while the mempool is read.
  const before = (await feed.read()).entries.length
  accept()
  const reading = feed.read()
  await delay(252)
  accept()
  expect((await reading).entries.length).toBeGreaterThan(before)
  expect((await feed.read()).entries).toHaveLength(before + 2)
  monitor.close()
})

it('reads again when the first listener returns', async () => {
  const { chain, accept } = growingChain()
  const feed = createMempoolFeed(chain)
  feed.subscribe(() => {})()
  expect((await feed.read()).entries).toEqual([])
  accept()
  const unsubscribe = feed.subscribe(() => {})
  expect((await feed.read()).entries).toHaveLength(1)
  unsubscribe()
})

it('ends a wait when the connection is closed', async () => {
  const { chain } = growingChain()
  const monitor = createMempoolMonitor(chain, createMempoolFeed(chain))
  await monitor.acquireMempool()
  const waiting = monitor.acquireMempool()
  monitor.close()
  expect(await waiting).toBeUndefined()
})
