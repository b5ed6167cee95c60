import { expect, test } from 'vitest'
import { logQueueErrors } from './queue-errors.js'

test('logs an error of a queue that repeats once in 30 seconds, and counts it', () => {
  const lines: unknown[] = []
  let time = 0
  const report = logQueueErrors(
    { warn: (fields, message) => void lines.push([fields, message]) },
    'Redis at redis://127.0.0.1:6379',
    () => time,
  )
  const message = 'Redis at redis://127.0.0.1:6379 failed in a call of the queue'
  const [refused, late] = [new Error('connect ECONNREFUSED'), new Error('Command timed out')]
  for (const err of [refused, refused, late, refused]) report(err)
  expect(lines.splice(0)).toEqual([
    [{ err: refused }, message],
    [{ err: late }, message],
  ])
  time = 30_000
  for (const err of [refused, refused]) report(err)
  expect(lines).toEqual([[{ err: refused, repeated: 2 }, message]])
})
