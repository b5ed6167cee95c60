import { setTimeout as delay } from 'node:timers/promises'
import { decodeTransaction } from '@ratatosk/ledger'
import { keyOf, signed } from '@ratatosk/test-kit'
import { expect, it } from 'vitest'
import { chainWith } from '../test/served-chain.js'
import type { ChainBlock, ChainChange, ListPart, MempoolEntry } from '../view/chain-view.js'
import { createBlockReader } from './block-reader.js'
import { createMempoolFeed } from './mempool-feed.js'
import { createMempoolMonitor } from './session.js'

const inputs = [{ transactionId: new Uint8Array(32), index: 0 }]
const { id, cbor } = signed(keyOf(1), { inputs, outputs: [2_000_000n] })
const transaction = { hash: id, transaction: decodeTransaction(cbor) }

function blockOf(height: number, transactionCount: number): ChainBlock {
  const hash = String(height).padStart(64, '0')
  return { height, slot: 1n, hash, previous: '00', time: 0n, size: 1, transactionCount }
}

/** A chain whose blocks consist of one transaction again and again. */
function chainOf(...blocks: readonly ChainBlock[]) {
  const reads: { readonly hash: string; readonly part: ListPart }[] = []
  const chain = chainWith({
    blockTransactions(hash, part) {
      reads.push({ hash, part })
      const count = blocks.find((block) => block.hash === hash)?.transactionCount ?? 0
      return Array.from({ length: Math.min(part.limit, count - part.offset) }, () => transaction)
    },
  })
  return { reads, reader: createBlockReader(chain) }
}
const wanted = () => true

it('builds a block once for all readers, page by page', async () => {
  const block = blockOf(1, 250)
  const { reads, reader } = chainOf(block)
  const answers = await Promise.all(Array.from({ length: 50 }, () => reader.read(block, wanted)))
  expect(new Set(answers).size).toBe(1)
  const json = JSON.parse(String(answers[0]?.part))
  expect(json).toMatchObject({ type: 'praos', height: 1, ancestor: 'genesis', id: block.hash })
  expect(json.transactions.map((each: { id: string }) => each.id)).toEqual(Array(250).fill(id))
  expect(reads.map(({ part }) => part.offset)).toEqual([0, 100, 200])
  expect(await reader.read(block, wanted)).toBe(answers[0])
  expect(reads).toHaveLength(3)
})

it('lets timers and sockets take their turn', async () => {
  const block = blockOf(1, 5000)
  const { reader } = chainOf(block)
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await reader.read(block, wanted)
  clearInterval(timer)
  expect(turns).toBeGreaterThanOrEqual(2)
})

it('builds one block at a time, and none for a client that has left', async () => {
  const blocks = [blockOf(1, 300), blockOf(2, 300), blockOf(3, 300)] as const
  const { reads, reader } = chainOf(...blocks)
  let left = false
  const answers = blocks.map((block, index) => reader.read(block, () => index !== 1 || !left))
  left = true
  expect((await Promise.all(answers)).map((answer) => answer === undefined)).toEqual([false, true, false])
  expect(reads.map(({ hash }) => Number(hash))).toEqual([1, 1, 1, 3, 3, 3])
})

it('keeps the newest 32 MiB', async () => {
  const blocks = Array.from({ length: 5 }, (_, index) => blockOf(index + 1, 12_000))
  const { reads, reader } = chainOf(...blocks)
  let size = 0
  for (const block of blocks) size = (await reader.read(block, wanted))?.part.length ?? 0
  expect(5 * size).toBeGreaterThan(32 * 1024 * 1024)
  reads.length = 0
  await reader.read(blocks[4]!, wanted)
  expect(reads).toEqual([])
  await reader.read(blocks[0]!, wanted)
  expect(reads).toHaveLength(120)
})

it('returns nothing for a block that has left the chain', async () => {
  const { reader } = chainOf()
  expect(await reader.read(blockOf(1, 1), wanted)).toBeUndefined()
})

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
