import { expect, test, vi } from 'vitest'
import { addsInBulk } from './bulk-add.js'

const options = { maxItems: 500, quietIterations: 3, paceMs: 0, quietMs: 0, steadyQuietMs: 0, promptItems: 1 }

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

test('a steady stream is collected until its pace or silence ends; many are not held back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const calls: number[][] = []
    const add = addsInBulk<number, number>(
      async (items) => {
        calls.push([...items])
        return items
      },
      { maxItems: 500, quietIterations: 0, paceMs: 10, quietMs: 3, steadyQuietMs: 3, promptItems: 5 },
    )
    const added: Promise<number>[] = []
    const settle = async () => {
      for (let n = 0; n < 5; n++) await new Promise(setImmediate)
    }
    const arrive = async (...items: number[]) => {
      added.push(...items.map(add))
      await settle()
    }
    const pass = async (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds)
      await settle()
    }
    await arrive(1)
    expect(calls, 'the first starts a call at once').toEqual([[1]])

    for (const item of [2, 3, 4, 5]) {
      await arrive(item)
      await pass(2)
    }
    expect(calls).toHaveLength(1)
    await pass(2)
    expect(calls.slice(1), 'the pace is over').toEqual([[2, 3, 4, 5]])

    await arrive(6)
    await pass(2)
    await arrive(7)
    await pass(2)
    expect(calls).toHaveLength(2)
    await pass(1)
    expect(calls.slice(2), 'nothing has arrived for a while').toEqual([[6, 7]])

    await arrive(8, 9, 10, 11)
    expect(calls).toHaveLength(3)
    await arrive(12)
    expect(calls.slice(3), 'many wait').toEqual([[8, 9, 10, 11, 12]])

    await pass(20)
    await arrive(13)
    expect(calls.slice(4), 'the last call was long ago').toEqual([[13]])
    expect(await Promise.all(added)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
  } finally {
    vi.useRealTimers()
  }
})
