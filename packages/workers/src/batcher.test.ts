import { expect, test } from 'vitest'
import { Batcher } from './batcher.js'

test('runs a full batch at once and a smaller one after the wait', async () => {
  const batches: (readonly number[])[] = []
  const batcher = new Batcher<number>(3, 20, async (items) => {
    batches.push(items)
  })
  for (const n of [1, 2, 3]) batcher.add(n)
  expect(batches).toEqual([[1, 2, 3]])
  await Promise.resolve()
  batcher.add(4)
  batcher.add(5)
  expect(batches).toHaveLength(1)
  await expect
    .poll(() => batches)
    .toEqual([
      [1, 2, 3],
      [4, 5],
    ])
})

test('runs one batch at a time and collects the next one meanwhile', async () => {
  const batches: (readonly number[])[] = []
  let finish = () => {}
  const batcher = new Batcher<number>(2, 1, (items) => {
    batches.push(items)
    return new Promise((resolve) => {
      finish = resolve
    })
  })
  for (const n of [1, 2, 3, 4, 5]) batcher.add(n)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(batches).toEqual([[1, 2]])
  finish()
  await expect
    .poll(() => batches)
    .toEqual([
      [1, 2],
      [3, 4],
    ])
  finish()
  await expect.poll(() => batches).toEqual([[1, 2], [3, 4], [5]])
})
