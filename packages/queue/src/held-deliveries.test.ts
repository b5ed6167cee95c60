import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HeldDeliveries } from './held-deliveries.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function hold(backlog = async () => 0) {
  const sizes: number[] = []
  const held = new HeldDeliveries(2, (size) => sizes.push(size), backlog)
  const passed = vi.fn()
  const wait = () => void held.passed(300).then(passed)
  return { held, sizes, passed, wait }
}

test('has so many places and no more, and tells how many are taken', () => {
  const { held, sizes } = hold()
  expect([held.take(), held.take(), held.take()]).toEqual([true, true, false])
  held.leave()
  expect(held.take()).toBe(true)
  expect(sizes).toEqual([1, 2, 1, 2])
})

test('a delivery passes after its time', async () => {
  const { passed, wait } = hold()
  wait()
  await vi.advanceTimersByTimeAsync(299)
  expect(passed).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(51)
  expect(passed).toHaveBeenCalledExactlyOnceWith(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('while others come it waits on, for five seconds at most', async () => {
  const { held, passed, wait } = hold()
  wait()
  for (let time = 0; time < 5_200; time += 100) {
    held.delivered()
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(passed).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(150)
  expect(passed).toHaveBeenCalledExactlyOnceWith(true)
})

test('it waits behind what is in the queue', async () => {
  let waiting = 1
  const { passed, wait } = hold(async () => waiting)
  wait()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(passed).not.toHaveBeenCalled()
  waiting = 0
  await vi.advanceTimersByTimeAsync(50)
  expect(passed).toHaveBeenCalledExactlyOnceWith(true)
})

test('closing gives up what waits, and takes nothing more', async () => {
  const { held, passed, wait } = hold()
  wait()
  held.close()
  await vi.advanceTimersByTimeAsync(0)
  expect(passed).toHaveBeenCalledExactlyOnceWith(false)
  expect(held.take()).toBe(false)
  expect(await held.passed(300)).toBe(false)
})
