import type { BlockTotal, TimedBlock } from '@ratatosk/ports'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { overviewAnswer } from './overview.js'
import { options, timedBlock } from './test/ports.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})
/** Readers no longer share totals. */
const later = () => vi.advanceTimersByTime(2_000)

/** Blocks of two transactions each; all but the newest `waiting` are merged. */
function chainOf(blocks: bigint, waiting: bigint) {
  const chain = { blocks, waiting, fill: 1, summed: [] as [bigint, bigint][] }
  const stateOf = (height: bigint) => (height > chain.blocks - chain.waiting ? 'committed' : 'merged')
  const block = (height: bigint): TimedBlock => ({
    ...timedBlock(height, 2),
    state: stateOf(height),
    headerHash: new Uint8Array(28).fill(chain.fill),
    committedAt: new Date(Number(height)),
    mergedAt: new Date(Number(height) + 1),
  })
  const reads = {
    ...options.reads,
    blocks: async () => (chain.blocks === 0n ? [] : [block(chain.blocks)]),
    block: async (id: Uint8Array | bigint) =>
      typeof id === 'bigint' && id >= 1n && id <= chain.blocks ? block(id) : undefined,
    totals: async (after: bigint, to: bigint): Promise<BlockTotal[]> => {
      chain.summed.push([after, to])
      const merged = Number((to < chain.blocks - chain.waiting ? to : chain.blocks - chain.waiting) - after)
      const others = Number(to - after) - Math.max(0, merged)
      return [
        { state: 'merged', blocks: Math.max(0, merged), transactions: 2 * Math.max(0, merged) },
        { state: 'committed', blocks: others, transactions: 2 * others },
      ]
    },
  }
  return { chain, overview: overviewAnswer({ ...options, reads }) }
}

test('sums a chain once, and then only what is not merged or new', async () => {
  const { chain, overview } = chainOf(2_500n, 3n)
  const expected = {
    newestHeight: 2_500,
    blocks: { merged: { blocks: 2_497, transactions: 4_994 }, committed: { blocks: 3, transactions: 6 } },
    lastCommitAt: new Date(2_500).toISOString(),
    lastMergeAt: new Date(2_498).toISOString(),
  }
  expect(await overview()).toMatchObject(expected)
  expect(chain.summed).toEqual([
    [0n, 1_000n],
    [1_000n, 2_000n],
    [2_000n, 2_500n],
  ])
  chain.summed = []
  expect(await overview()).toMatchObject(expected)
  expect(chain.summed).toEqual([])
  later()
  expect(await overview()).toMatchObject(expected)
  expect(chain.summed).toEqual([[2_000n, 2_500n]])
  chain.blocks = 3_100n
  later()
  expect(await overview()).toMatchObject({ blocks: { merged: { blocks: 3_097, transactions: 6_194 } } })
})

test('sums anew after a reset', async () => {
  const { chain, overview } = chainOf(1_500n, 0n)
  await overview()
  Object.assign(chain, { blocks: 1_200n, fill: 2 })
  later()
  expect(await overview()).toMatchObject({ blocks: { merged: { blocks: 1_200 } } })
  chain.blocks = 0n
  later()
  const { newestHeight, blocks } = await overview()
  expect([newestHeight, blocks.merged.blocks]).toEqual([undefined, 0])
})

test('readers share the queue, and it is absent while it fails', async () => {
  let asked = 0
  const waiting = async () => {
    if (++asked === 1) throw new Error('down')
    return { transactions: 3, bytes: 300, oldestAt: undefined }
  }
  const overview = overviewAnswer({ ...options, queue: { waiting } })
  const down = await overview()
  expect([down.queue, down.mempool.transactions]).toEqual([undefined, 0])
  await Promise.all([overview(), overview()])
  expect((await overview()).queue).toEqual({ transactions: 3, bytes: 300 })
  expect(asked).toBe(2)
  later()
  await overview()
  expect(asked).toBe(3)
})
