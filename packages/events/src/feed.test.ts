import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventFeed } from './feed.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A feed with clients, of which the first counts how often it is woken. */
async function follow(clients: number) {
  let accepted = 0n
  let wakes = 0
  const feed = new EventFeed({
    log: {
      head: async () => ({ accepted, rejected: 0n, block: 0n, verdict: 0n }),
      read: () => Promise.reject(new Error('not read')),
    },
    pollMs: 100,
    maturityWindowMs: undefined,
    logger: { info: () => undefined, warn: () => undefined },
  })
  const added = Array.from({ length: clients }, (_, n) => ({
    wake: () => {
      if (n === 0) wakes++
    },
    tick: () => undefined,
  }))
  for (const client of added) feed.add(client)
  await vi.advanceTimersByTimeAsync(1_000)
  wakes = 0
  return {
    /** How often the client is woken in a second with events at the start of so many tenths of it. */
    async wakesOf(events: number) {
      for (let n = 0; n < 10; n++) {
        if (n < events) accepted++
        await vi.advanceTimersByTimeAsync(100)
      }
      for (const client of added) feed.remove(client)
      return wakes
    },
  }
}

test('a client alone is woken at each poll that finds something', async () => {
  expect(await (await follow(1)).wakesOf(10)).toBe(10)
})

test('many clients are woken less often while events come all the time', async () => {
  expect(await (await follow(1_000)).wakesOf(10)).toBe(3)
})

test('many clients are woken at once after a pause, and do not miss the last event', async () => {
  expect(await (await follow(1_000)).wakesOf(1)).toBe(1)
  expect(await (await follow(1_000)).wakesOf(2)).toBe(2)
})
