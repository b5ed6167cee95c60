import { expect, test } from 'vitest'
import { createSchedule } from './create-forwarder.js'

const id = (text: string): Uint8Array => new TextEncoder().encode(text)

test('asks at growing intervals up to five minutes', () => {
  const schedule = createSchedule(10_000)
  const waits: number[] = []
  let now = 0
  for (let time = 0; time < 8; time++) {
    expect(schedule.isDue(id('a'), now)).toBe(true)
    schedule.asked(id('a'), now, time % 2 === 0)
    const before = now
    while (!schedule.isDue(id('a'), now)) now += 1000
    waits.push(now - before)
  }
  expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
})

test('forgives what had no answer once, and nothing else', () => {
  const schedule = createSchedule(10_000)
  schedule.asked(id('a'), 0, true)
  schedule.asked(id('b'), 0, true)
  schedule.asked(id('b'), 10_000, false)
  for (const now of [0, 10_000]) schedule.asked(id('c'), now, false)
  schedule.forgive()
  expect(['a', 'b', 'c'].map((text) => schedule.isDue(id(text), 1))).toEqual([false, true, false])
  expect(['a', 'b', 'c'].map((text) => schedule.isDoubtful(id(text)))).toEqual([false, false, true])
})

test('forgets the transactions that were asked for longest ago', () => {
  const schedule = createSchedule(10_000)
  for (let n = 0; n < 20_000; n++) schedule.asked(id(String(n)), 0, true)
  schedule.asked(id('0'), 0, true)
  schedule.asked(id('one more'), 0, true)
  expect(['0', '1', '2'].map((text) => schedule.isDue(id(text), 1))).toEqual([false, true, false])
})
