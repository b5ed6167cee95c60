import { expect, test } from 'vitest'
import { addsInBulk } from './bulk-add.js'

test('what is asked for in one turn, or while a call is under way, shares a call', async () => {
  const calls: number[][] = []
  let second: Promise<number[]> | undefined
  const double = addsInBulk<number, number>(async (items) => {
    calls.push([...items])
    if (calls.length === 1) second = Promise.all([double(3), double(4)])
    await new Promise(setImmediate)
    return items.map((item) => item * 2)
  })
  const first = Promise.all([double(1), double(2)])
  expect(await first).toEqual([2, 4])
  expect(await second).toEqual([6, 8])
  expect(await double(5)).toBe(10)
  expect(calls).toEqual([[1, 2], [3, 4], [5]])
})

test('a call holds no more than it may', async () => {
  const sizes: number[] = []
  const add = addsInBulk<number, number>(async (items) => {
    sizes.push(items.length)
    return items
  }, 2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(add))).toEqual([1, 2, 3, 4, 5])
  expect(sizes).toEqual([2, 2, 1])
})

test('a call that fails fails all of its own, and the next is not harmed', async () => {
  const add = addsInBulk<number, number>(async (items) => {
    if (items.includes(1)) throw new Error('refused')
    return items
  })
  await expect(Promise.allSettled([add(1), add(2)])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  expect(await add(3)).toBe(3)
})
