import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Batcher } from './batch-runner.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

/** A batcher that records its batches, each of which runs until `finish` is called. */
function recording(limits: ConstructorParameters<typeof Batcher>[0]) {
  const batches: (readonly number[])[] = []
  let finish = () => {}
  const batcher = new Batcher<number>(limits, (items) => {
    batches.push(items)
    return new Promise((resolve) => {
      finish = resolve
    })
  })
  return {
    batches,
    batcher,
    add: (...items: readonly number[]) => {
      for (const item of items) batcher.add(item)
    },
    async finish() {
      finish()
      await vi.advanceTimersByTimeAsync(0)
    },
  }
}

test('runs a full batch at once and a smaller one when nothing more arrives', async () => {
  const { batches, add, finish } = recording({ size: 3, quietMs: 5, maxMs: 50 })
  add(1, 2, 3)
  expect(batches).toEqual([[1, 2, 3]])
  await finish()
  add(4, 5)
  await vi.advanceTimersByTimeAsync(4)
  expect(batches).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
})

test('is busy while more than a batch is waiting or running', async () => {
  const { batcher, add, finish } = recording({ size: 2, quietMs: 5, maxMs: 50 })
  expect(batcher.busy).toBe(false)
  add(1, 2)
  expect(batcher.busy).toBe(false)
  add(3)
  expect(batcher.busy).toBe(true)
  await finish()
  expect(batcher.busy).toBe(false)
})

test('collects items that arrive close together, for so long at most', async () => {
  const { batches, add } = recording({ size: 100, quietMs: 5, maxMs: 20 })
  for (const item of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
    add(item)
    await vi.advanceTimersByTimeAsync(4)
  }
  expect(batches).toEqual([[0, 1, 2, 3, 4]])
})

test('does not wait for others longer than a pause', async () => {
  const { batches, add } = recording({ size: 100, quietMs: 5, maxMs: 20 })
  add(1)
  await vi.advanceTimersByTimeAsync(4)
  add(2)
  await vi.advanceTimersByTimeAsync(4)
  expect(batches).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([[1, 2]])
})

test('waits longer for others after a batch of several, unless there was a pause', async () => {
  const { batches, add, finish } = recording({ size: 100, quietMs: 5, maxMs: 50 })
  add(1, 2, 3, 4)
  await vi.advanceTimersByTimeAsync(5)
  await finish()
  for (const item of [5, 6]) {
    add(item)
    await vi.advanceTimersByTimeAsync(24)
  }
  expect(batches).toEqual([[1, 2, 3, 4]])
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ])
  await finish()
  add(7)
  await vi.advanceTimersByTimeAsync(5)
  expect(batches.at(-1), 'a client that waits for each of its transactions').toEqual([7])
  await finish()
  add(8, 9, 10, 11)
  await vi.advanceTimersByTimeAsync(5)
  await finish()
  await vi.advanceTimersByTimeAsync(50)
  add(12)
  await vi.advanceTimersByTimeAsync(5)
  expect(batches.at(-1), 'after a pause').toEqual([12])
})

test('runs one batch at a time and collects the next one meanwhile', async () => {
  const { batches, add, finish } = recording({ size: 2, quietMs: 1, maxMs: 1 })
  add(1, 2, 3, 4, 5)
  await vi.advanceTimersByTimeAsync(20)
  expect(batches).toEqual([[1, 2]])
  await finish()
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ])
  await finish()
  expect(batches).toEqual([[1, 2], [3, 4], [5]])
})
