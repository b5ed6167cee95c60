import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WaitingLimit } from './submission-queue.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A limit over a queue of which `waiting` are waiting, and what was added through it. */
function limited(transactions: number, waiting = 0) {
  const queue = { waiting, counts: 0, countMs: 0, failing: false }
  const limits = { transactions, bytes: transactions * 100 }
  const limit = new WaitingLimit(limits, async () => {
    queue.counts++
    if (queue.countMs > 0) await new Promise((resolve) => setTimeout(resolve, queue.countMs))
    if (queue.failing) throw new Error('away')
    return { transactions: queue.waiting, bytes: queue.waiting * 10 }
  })
  const add = (bytes = 10) => limit.admit(bytes, async () => ++queue.waiting)
  return { queue, add, limit }
}

const later = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

test('admits up to the limit and refuses beyond it', async () => {
  const { queue, add } = limited(5, 3)
  expect(await Promise.all([add(), add(), add(), add()])).toEqual([4, 5, undefined, undefined])
  expect(queue.waiting).toBe(5)
})

test('refuses what exceeds the bytes, and admits less', async () => {
  const { add } = limited(10, 3)
  expect(await add(971)).toBeUndefined()
  expect(await add(960)).toBe(4)
  expect(await add(11)).toBeUndefined()
  expect(await add(10)).toBe(5)
})

test('counts at most every 250 ms, however many are added', async () => {
  const { queue, add } = limited(1_000_000)
  for (let time = 0; time < 1000; time += 10) {
    await Promise.all(Array.from({ length: 100 }, () => add()))
    await later(10)
  }
  expect(queue.waiting).toBe(10_000)
  expect(queue.counts).toBeLessThanOrEqual(5)
})

test('admits again once transactions were taken from the queue', async () => {
  const { queue, add } = limited(2)
  await Promise.all([add(), add()])
  expect(await add()).toBeUndefined()
  queue.waiting = 0
  expect(await add(), 'within 250 ms').toBeUndefined()
  await later(250)
  expect(await add()).toBe(1)
  expect(await add()).toBe(2)
  expect(await add()).toBeUndefined()
})

test('notices what other processes add', async () => {
  const { queue, add } = limited(10)
  await add()
  queue.waiting = 10
  await later(250)
  // The count is refreshed without delaying the transaction that is due for it.
  await add()
  expect(await add()).toBeUndefined()
})

test('does not forget what is being added while it counts', async () => {
  const { queue, add, limit } = limited(3)
  await add()
  await later(250)
  queue.countMs = 100
  let finish: () => void = () => undefined
  const slow = limit.admit(10, () => new Promise<void>((resolve) => (finish = resolve)))
  const second = limit.admit(10, () => new Promise<void>(() => undefined))
  await later(100)
  expect(await add(), 'one waits and two are being added').toBeUndefined()
  finish()
  await slow
  void second
})

test('spends at most a twentieth of the time on counting', async () => {
  const { queue, add } = limited(1_000_000)
  queue.countMs = 100
  for (let time = 0; time < 10_000; time += 50) {
    void add()
    await later(50)
  }
  expect(queue.counts).toBeLessThanOrEqual(6)
})

test('admits while the count fails', async () => {
  const { queue, add } = limited(1)
  queue.failing = true
  expect(await add()).toBe(1)
})
