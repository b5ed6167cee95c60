import { expect, test, vi } from 'vitest'
import { addsInBulk } from './bulk-add.js'

const options = { maxItems: 500, quietIterations: 3, paceMs: 0, promptItems: 1 }

test('items that arrive together, or during a call, share one call', async () => {
  const calls: number[][] = []
  let second: Promise<number[]> | undefined
  const double = addsInBulk<number, number>(async (items) => {
    calls.push([...items])
    if (calls.length === 1) second = Promise.all([double(3), double(4)])
    await new Promise(setImmediate)
    return items.map((item) => item * 2)
  }, options)
  const first = Promise.all([double(1), double(2)])
  expect(await first).toEqual([2, 4])
  expect(await second).toEqual([6, 8])
  expect(await double(5)).toBe(10)
  expect(calls).toEqual([[1, 2], [3, 4], [5]])
})

test('a call has at most the given number of items', async () => {
  const sizes: number[] = []
  const add = addsInBulk<number, number>(
    async (items) => {
      sizes.push(items.length)
      return items
    },
    { ...options, maxItems: 2 },
  )
  expect(await Promise.all([1, 2, 3, 4, 5].map(add))).toEqual([1, 2, 3, 4, 5])
  expect(sizes).toEqual([2, 2, 1])
})

test('a failed call rejects all of its items and no others', async () => {
  const add = addsInBulk<number, number>(async (items) => {
    if (items.includes(1)) throw new Error('refused')
    return items
  }, options)
  await expect(Promise.allSettled([add(1), add(2)])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  expect(await add(3)).toBe(3)
})

test('a steady stream of items is collected, but not longer than the pace, and many are not held back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const calls: number[][] = []
    const add = addsInBulk<number, number>(
      async (items) => {
        calls.push([...items])
        return items
      },
      { maxItems: 500, quietIterations: 0, paceMs: 4, promptItems: 3 },
    )
    const settle = async () => {
      for (let n = 0; n < 5; n++) await new Promise(setImmediate)
    }
    const added = [add(1)]
    await settle()
    expect(calls).toEqual([[1]])
    added.push(add(2))
    await settle()
    vi.advanceTimersByTime(3)
    added.push(add(3))
    await settle()
    expect(calls).toEqual([[1]])
    vi.advanceTimersByTime(1)
    await settle()
    expect(calls).toEqual([[1], [2, 3]])
    added.push(add(4), add(5))
    await settle()
    expect(calls).toHaveLength(2)
    added.push(add(6))
    await settle()
    expect(calls).toEqual([[1], [2, 3], [4, 5, 6]])
    vi.advanceTimersByTime(10)
    added.push(add(7))
    await settle()
    expect(calls).toEqual([[1], [2, 3], [4, 5, 6], [7]])
    expect(await Promise.all(added)).toEqual([1, 2, 3, 4, 5, 6, 7])
  } finally {
    vi.useRealTimers()
  }
})
