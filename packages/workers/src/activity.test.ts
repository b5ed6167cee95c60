import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { recordActivity } from './activity.js'

const delivery = { id: '7', cbor: new Uint8Array(), attempt: 2, submittedAt: new Date(0) }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function recorded() {
  const lines: object[] = []
  const activity = recordActivity({ info: (fields) => lines.push(fields), warn() {}, error() {} })
  return { lines, activity }
}

test('logs one summary a second while there is work, and none otherwise', () => {
  const { lines, activity } = recorded()
  for (let second = 0; second < 3; second++) {
    for (let n = 0; n < 100; n++) activity.settled(delivery, { kind: 'accepted' })
    activity.examined(2)
    activity.batch(3, 7)
    vi.advanceTimersByTime(1000)
  }
  vi.advanceTimersByTime(10_000)
  const line = {
    accepted: 100,
    known: 0,
    rejected: 0,
    postponed: 0,
    deferred: 0,
    released: 0,
    batches: 1,
    busyMs: 7,
  }
  expect(lines).toEqual([line, line, line])
  expect(activity.stats()).toMatchObject({
    accepted: 300,
    examineMs: 6,
    batches: 3,
    batchDeliveries: 9,
    batchMs: 21,
  })
})

test('logs the remaining counts when it closes', () => {
  const { lines, activity } = recorded()
  activity.settled(delivery, { kind: 'known' })
  activity.close()
  expect(lines).toMatchObject([{ known: 1 }])
  activity.close()
  vi.advanceTimersByTime(2000)
  expect(lines).toHaveLength(1)
})

test('logs the reasons of at most five dead letters between two summaries', () => {
  const { lines, activity } = recorded()
  const failures = [{ predicate: 'FeeTooSmallUTxO', message: 'The fee is too small', details: {} }]
  for (let n = 0; n < 20; n++) activity.settled(delivery, { kind: 'rejected', failures, transaction: 'ab' })
  expect(lines).toHaveLength(5)
  const reason = 'The fee is too small'
  expect(lines[0]).toEqual({ submission: '7', tx: 'ab', attempts: 2, code: 'FeeTooSmallUTxO', reason })
  vi.advanceTimersByTime(1000)
  expect(lines.at(-1)).toMatchObject({ rejected: 20 })
  activity.settled(delivery, { kind: 'rejected', failures })
  expect(lines).toHaveLength(7)
})
