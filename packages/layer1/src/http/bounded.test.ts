import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { bounded, unlessAborted } from './bounded.js'

const never = new Promise<never>(() => undefined)
const ended = (signal: AbortSignal) => unlessAborted(signal, never)

test("ends with the reason of the caller's signal", async () => {
  const controller = new AbortController()
  const call = bounded(60_000, controller.signal, ended)
  controller.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
  await expect(bounded(60_000, controller.signal, ended)).rejects.toThrow('enough')
})

test('ends at the time limit', async () => {
  // An unreferenced timer alone would let the process end.
  const alive = setInterval(() => undefined, 1000)
  await expect(bounded(5, undefined, ended)).rejects.toMatchObject({ name: 'TimeoutError' })
  clearInterval(alive)
})

test('leaves no listener on a signal that outlives the call', async () => {
  const { signal } = new AbortController()
  await bounded(60_000, signal, async () => 1)
  await expect(bounded(60_000, signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await unlessAborted(signal, Promise.resolve())
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
