import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HeldDeliveries } from './held-deliveries.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function hold(waiting = async () => 0) {
  const held = new HeldDeliveries(2, waiting)
  const elapsed = vi.fn()
  const wait = () => void held.elapsed(300).then(elapsed)
  return { held, elapsed, wait }
}

test('holds deliveries up to its capacity', () => {
  const { held } = hold()
  expect([held.take(), held.take(), held.take()]).toEqual([true, true, false])
  held.leave()
  expect(held.take()).toBe(true)
})

test('a delivery is repeated after its delay', async () => {
  const { elapsed, wait } = hold()
  wait()
  await vi.advanceTimersByTimeAsync(299)
  expect(elapsed).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(51)
  expect(elapsed).toHaveBeenCalledExactlyOnceWith(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('a delivery waits while others arrive, for at most five seconds', async () => {
  const { held, elapsed, wait } = hold()
  wait()
  for (let time = 0; time < 5_200; time += 100) {
    held.delivered()
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(elapsed).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(150)
  expect(elapsed).toHaveBeenCalledExactlyOnceWith(true)
})

test('a delivery waits until the queue is empty', async () => {
  let waiting = 1
  const { elapsed, wait } = hold(async () => waiting)
  wait()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(elapsed).not.toHaveBeenCalled()
  waiting = 0
  await vi.advanceTimersByTimeAsync(50)
  expect(elapsed).toHaveBeenCalledExactlyOnceWith(true)
})

test('closing gives up every held delivery and accepts no more', async () => {
  const { held, elapsed, wait } = hold()
  wait()
  held.close()
  await vi.advanceTimersByTimeAsync(0)
  expect(elapsed).toHaveBeenCalledExactlyOnceWith(false)
  expect(held.take()).toBe(false)
  expect(await held.elapsed(300)).toBe(false)
})
