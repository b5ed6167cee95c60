import { expect, test } from 'vitest'
import { addsInBulk } from './bulk-add.js'

const options = { maxItems: 500, quietIterations: 3 }

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
