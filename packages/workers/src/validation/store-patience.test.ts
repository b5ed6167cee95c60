import { StoreError } from '@ratatosk/store'
import { expect, test } from 'vitest'
import { StoreAwayError, storePatience } from './store-patience.js'

function patience(signal = new AbortController().signal) {
  const told: string[] = []
  return {
    told,
    ...storePatience({
      signal,
      onAway: (error) => told.push(error.message),
      onBack: () => told.push('back'),
    }),
  }
}

/** Fails with each of the errors, then succeeds. */
function failing(...errors: Error[]) {
  return async () => {
    const error = errors.shift()
    if (error !== undefined) throw error
    return 'done'
  }
}

const away = new StoreError('STORE_UNAVAILABLE', 'away')
const conflict = new StoreError('STORE_CONFLICT', 'changed')

test('waits for a store that is away, and tells once', async () => {
  const { insist, told } = patience()
  expect(await insist(failing(away, away))).toBe('done')
  expect(told).toEqual(['away', 'back'])
})

test('repeats at once what the ledger has overtaken, a few times', async () => {
  const { insist, told } = patience()
  expect(await insist(failing(conflict, conflict))).toBe('done')
  await expect(insist(failing(...Array.from({ length: 9 }, () => conflict)))).rejects.toBe(conflict)
  expect(told).toEqual([])
})

test('throws what waiting does not mend', async () => {
  const defect = new StoreError('STORE_FAILED', 'defect')
  await expect(patience().insist(failing(defect))).rejects.toBe(defect)
})

test('gives up when the worker closes', async () => {
  const closing = new AbortController()
  const { insist } = patience(closing.signal)
  const result = insist(failing(...Array.from({ length: 99 }, () => away)))
  setTimeout(() => closing.abort(), 20)
  await expect(result).rejects.toThrow(StoreAwayError)
})
