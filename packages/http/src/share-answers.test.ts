import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { shareAnswers } from './share-answers.js'

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

test('a call never gets what was read too long before it', async () => {
  const share = shareAnswers<number>(20)
  let now = 1
  let finish = () => {}
  const read = async () => {
    const seen = now
    await new Promise<void>((resolve) => (finish = resolve))
    return seen
  }
  const slow = share('a', read)
  await sleep(50)
  now = 2
  const [one, other] = [share('a', read), share('a', read)]
  finish()
  expect(await slow).toBe(1)
  await sleep(1)
  now = 3
  finish()
  expect(await Promise.all([one, other]), 'they share one').toEqual([2, 2])
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

test('an answer that is still read stays, and the timer of what makes room ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const share = shareAnswers<number>(60_000)
  let answer: (value: number) => void = () => {}
  const slow = share('slow', () => new Promise<number>((resolve) => (answer = resolve)))
  for (let key = 0; key < 100; key++) await share(String(key), async () => key)
  expect(vi.getTimerCount(), 'of 99 answers, and of the read').toBe(100)
  const shared = share('slow', () => 1)
  answer(7)
  expect(await Promise.all([slow, shared])).toEqual([7, 7])
  expect(await share('0', () => 1)).toBe(1)
})

test('a read that never ends is a 503, and is not shared for ever; one may answer at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const share = shareAnswers<number>(500)
  const readers = [1, 2].map(() => share('a', () => new Promise<number>(() => undefined)))
  const answers = Promise.allSettled(readers)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await answers).toMatchObject(Array(2).fill({ reason: { code: 'STORE_UNAVAILABLE' } }))
  expect(await share('a', () => 1)).toBe(1)
})
