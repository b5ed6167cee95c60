import { StoreError } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { isUnavailable, storeRetry } from './retry-while-unavailable.js'

function createRetry(signal = new AbortController().signal) {
  const events: string[] = []
  const { retryWhileUnavailable } = storeRetry({
    signal,
    onUnavailable: (error) => events.push(error.message),
    onAvailable: () => events.push('available'),
  })
  return { events, retryWhileUnavailable }
}

/** Fails with each of the errors, then succeeds. */
function failing(...errors: Error[]) {
  return async () => {
    const error = errors.shift()
    if (error !== undefined) throw error
    return 'done'
  }
}

const unavailable = new StoreError('STORE_UNAVAILABLE', 'unavailable')
const conflict = new StoreError('STORE_CONFLICT', 'changed')

test('waits for an unavailable store and reports the outage once', async () => {
  const { retryWhileUnavailable, events } = createRetry()
  expect(await retryWhileUnavailable(failing(unavailable, unavailable))).toBe('done')
  expect(events).toEqual(['unavailable', 'available'])
})

test('retries conflicts at once, a few times', async () => {
  const { retryWhileUnavailable, events } = createRetry()
  expect(await retryWhileUnavailable(failing(conflict, conflict))).toBe('done')
  const conflicts = Array.from({ length: 9 }, () => conflict)
  await expect(retryWhileUnavailable(failing(...conflicts))).rejects.toBe(conflict)
  expect(events).toEqual([])
})

test('does not retry other errors', async () => {
  const defect = new StoreError('STORE_FAILED', 'defect')
  await expect(createRetry().retryWhileUnavailable(failing(defect))).rejects.toBe(defect)
})

test('gives up when the worker closes', async () => {
  const closing = new AbortController()
  const { retryWhileUnavailable } = createRetry(closing.signal)
  const result = retryWhileUnavailable(failing(...Array.from({ length: 99 }, () => unavailable)))
  setTimeout(() => closing.abort(), 20)
  await expect(result).rejects.toSatisfy(isUnavailable)
})
