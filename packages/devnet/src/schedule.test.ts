import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runOnSchedule } from './create-devnet.js'

beforeEach(() => void vi.useFakeTimers({ now: 10_250 }))
afterEach(() => void vi.useRealTimers())

test.each([
  ['in the past', 600],
  ['in the future', 50_600],
])('keeps to times that are counted from one %s, however late a timer is', (_, from) => {
  const times: number[] = []
  const end = runOnSchedule({ everyMs: 1000, from, now: Date.now }, () => {
    times.push(Date.now())
    // The process is busy.
    if (times.length === 2) vi.setSystemTime(Date.now() + 150)
  })
  vi.advanceTimersByTime(4000)
  end()
  vi.advanceTimersByTime(4000)
  expect(times).toEqual([10_600, 11_600, 12_600, 13_600])
})
