import { expect, test } from 'vitest'
import { Turns } from './turns.js'

test('one runs at a time, urgent ones before others, each kind in order; one that fails harms no other', async () => {
  const turns = new Turns()
  const order: string[] = []
  let running = 0
  const take = (name: string, urgent = false) =>
    turns.take(urgent, async () => {
      expect(++running).toBe(1)
      await new Promise(setImmediate)
      running--
      order.push(name)
      if (name === 'b') throw new Error('refused')
    })
  const taken = await Promise.allSettled([take('a'), take('b'), take('c'), take('u', true), take('v', true)])
  expect(order).toEqual(['a', 'u', 'v', 'b', 'c'])
  expect(taken.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1)
  await take('later')
  expect(order.at(-1)).toBe('later')
})
