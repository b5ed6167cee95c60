import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TurnQueue } from './turns.js'

/** Keeps the process busy, in milliseconds. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Counts turns of the event loop until it stops. */
function countTurns() {
  const turns = { count: 0, stop: false }
  const next = () => {
    turns.count++
    if (!turns.stop) setImmediate(next)
  }
  setImmediate(next)
  return turns
}

test('runs what waits in order, a little in each turn', async () => {
  const queue = new TurnQueue()
  const turns = countTurns()
  const ran: { index: number; turn: number }[] = []
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      await queue.next()
      work(6)
      ran.push({ index, turn: turns.count })
    }),
  )
  turns.stop = true
  expect(ran.map(({ index }) => index)).toEqual(Array.from({ length: 12 }, (_, index) => index))
  const most = Math.max(...ran.map(({ turn }) => ran.filter((other) => other.turn === turn).length))
  expect(most).toBeLessThanOrEqual(4)
  expect(queue.isEmpty).toBe(true)
})

test('counts the work that follows in the same turn', async () => {
  const queue = new TurnQueue()
  const turns = countTurns()
  const ran: number[] = []
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      await queue.next()
      await undefined
      work(11)
      ran.push(turns.count)
    }),
  )
  turns.stop = true
  expect(new Set(ran).size).toBeGreaterThanOrEqual(5)
})

test('runs short work in the turn in which it comes', async () => {
  const queue = new TurnQueue()
  const turns = countTurns()
  await queue.next()
  expect(turns.count).toBe(0)
  turns.stop = true
})

test('runs nothing until it may', async () => {
  let isOpen = false
  const queue = new TurnQueue(() => isOpen)
  const ran: number[] = []
  for (let index = 0; index < 3; index++) queue.add(() => ran.push(index))
  for (let n = 0; n < 5; n++) await turn()
  expect(ran).toEqual([])
  isOpen = true
  await turn()
  await turn()
  expect(ran).toEqual([0, 1, 2])
})
