import { expect, test } from 'vitest'
import { createTurns } from './ogmios/ogmios-api.js'

test('callers go on in order, a little in each turn of the event loop', async () => {
  const turn = createTurns()
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const began: number[] = []
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      await turn()
      await undefined
      began.push(turns)
      order.push(index)
      const until = performance.now() + 6
      while (performance.now() < until);
    }),
  )
  isDone = true
  expect(order).toEqual(Array.from({ length: 12 }, (_, index) => index))
  expect(began[0]).toBe(0)
  for (const one of began) expect(began.filter((other) => other === one).length).toBeLessThanOrEqual(4)
})
