import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createBodyBudget } from './body-budget.js'

const { signal } = new AbortController()

/** Whether a promise is settled once all that could settle it has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  promise.finally(() => {
    settled = true
  })
  await setImmediate()
  return settled
}

it('gives the oldest share what it asks for, and the others what is left, once it is', async () => {
  const budget = createBodyBudget(100)
  const [first, second, third] = [budget.open(), budget.open(), budget.open()]
  await second.take(80, signal)
  const waiting = third.take(30, signal)
  expect(await isSettled(waiting)).toBe(false)
  await first.take(1_000, signal)
  second.release()
  expect(await isSettled(waiting)).toBe(false)
  first.end()
  await waiting
  // It is the oldest now.
  await second.take(1_000, signal)
  const more = third.take(1, signal)
  expect(await isSettled(more)).toBe(false)
  second.end()
  await more
})

it('leaves a share that is aborted without what it waited for', async () => {
  const budget = createBodyBudget(10)
  const [first, second] = [budget.open(), budget.open()]
  await first.take(10, signal)
  const abort = new AbortController()
  const waiting = second.take(5, abort.signal)
  abort.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  first.release()
  const third = budget.open()
  await third.take(10, signal)
})

it('makes a share wait until it is the oldest, or need not be', async () => {
  const budget = createBodyBudget()
  const [first, second, third] = [budget.open(), budget.open(), budget.open()]
  let isNeedless = false
  const waiting = [second.oldest(() => false, signal), third.oldest(() => isNeedless, signal)] as const
  expect(await isSettled(waiting[1])).toBe(false)
  isNeedless = true
  first.release()
  await waiting[1]
  expect(await isSettled(waiting[0])).toBe(false)
  first.end()
  await waiting[0]
})
