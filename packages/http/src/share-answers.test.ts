import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shareAnswers } from './share-answers.js'

/** Counts its calls. */
function counter() {
  let calls = 0
  return async () => {
    await sleep(1)
    return ++calls
  }
}

test('calls with the same key at the same time share an answer, and only these', async () => {
  const share = shareAnswers<number>(0)
  const read = counter()
  expect(await Promise.all([share('a', read), share('a', read), share('b', read)])).toEqual([1, 1, 2])
  expect(await share('a', read)).toBe(3)
})

test('later calls share the answer while it is fresh', async () => {
  const share = shareAnswers<number>(60_000)
  const read = counter()
  expect(await share('a', read)).toBe(1)
  expect(await share('a', read)).toBe(1)
})

test('a failure is not kept', async () => {
  const share = shareAnswers<number>(60_000)
  await expect(share('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await share('a', counter())).toBe(1)
})

test('the oldest of too many answers makes room', async () => {
  const share = shareAnswers<number>(60_000)
  const read = counter()
  for (let key = 0; key <= 100; key++) await share(String(key), async () => key)
  expect(await share('100', read)).toBe(100)
  expect(await share('0', read)).toBe(1)
})
