import { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { requestQueue, TurnQueue } from './server-limits.js'

/** A queue, what it has handled, and requests that are added to it by name. */
function build() {
  const queue = requestQueue()
  const handled: string[] = []
  const add = (name: string) => {
    const client = new Socket()
    queue.add(client, () => handled.push(name))
    return client
  }
  return { queue, handled, add }
}

test('handles a request at once if no connection has arrived', () => {
  const { handled, add } = build()
  add('a')
  expect(handled).toEqual(['a'])
})

test('handles a request at once again soon after the last connection has arrived', async () => {
  const { queue, handled, add } = build()
  queue.connectionArrived()
  for (let n = 0; n < 3; n++) await turn()
  add('a')
  expect(handled).toEqual(['a'])
})

test('handles requests in order when no more connections arrive', async () => {
  const { queue, handled, add } = build()
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    queue.connectionArrived()
    add(name)
    await turn()
    expect(handled).toEqual([])
  }
  while (handled.length < 5) await turn()
  expect(handled).toEqual(['a', 'b', 'c', 'd', 'e'])
})

/** A queue to which a connection and a request come in each millisecond, by a clock of its own. */
function busyQueue() {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { queue, handled, add } = build()
  let added = 0
  /** @returns in how many of these milliseconds requests waited */
  async function pass(ms: number): Promise<number> {
    let waited = 0
    for (let n = 0; n < ms; n++) {
      queue.connectionArrived()
      add(String(added++))
      vi.advanceTimersByTime(1)
      await turn()
      if (handled.length < added) waited++
    }
    return waited
  }
  return pass
}

test('makes way to connections for 500 ms, and for a tenth of the time if more arrive', async () => {
  const pass = busyQueue()
  expect(await pass(499)).toBe(499)
  expect(await pass(400)).toBeLessThan(5)
  const waited = await pass(11_000)
  expect(waited).toBeGreaterThan(900)
  expect(waited).toBeLessThan(1100)
})

test('makes way for less when connections have arrived shortly before', async () => {
  const pass = busyQueue()
  expect(await pass(400)).toBe(400)
  for (let n = 0; n < 3; n++) await turn()
  const waited = await pass(400)
  expect(waited).toBeGreaterThan(90)
  expect(waited).toBeLessThan(110)
})

test('makes way for 500 ms again after 5 s without connections', async () => {
  const pass = busyQueue()
  await pass(600)
  for (let n = 0; n < 3; n++) await turn()
  vi.advanceTimersByTime(5000)
  expect(await pass(499)).toBe(499)
})

test('does not handle the request of a client that has left', async () => {
  const { queue, handled, add } = build()
  queue.connectionArrived()
  add('a')
  add('b').destroy()
  add('c')
  while (handled.length < 2) await turn()
  expect(handled).toEqual(['a', 'c'])
})

/** Keeps the process busy, in milliseconds. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Counts turns of the event loop until it stops. */
function countTurns() {
  const turns = { count: 0, stop: false }
  const next = () => {
    turns.count++
    if (!turns.stop) setImmediate(next)
  }
  setImmediate(next)
  return turns
}

test('runs what waits in order, a little in each turn', async () => {
  const queue = new TurnQueue()
  const turns = countTurns()
  const ran: { index: number; turn: number }[] = []
  await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      await queue.next()
      work(6)
      ran.push({ index, turn: turns.count })
    }),
  )
  turns.stop = true
  expect(ran.map(({ index }) => index)).toEqual(Array.from({ length: 12 }, (_, index) => index))
  const most = Math.max(...ran.map(({ turn }) => ran.filter((other) => other.turn === turn).length))
  expect(most).toBeLessThanOrEqual(4)
  expect(queue.isEmpty).toBe(true)
})

test('counts the work that follows in the same turn', async () => {
  const queue = new TurnQueue()
  const turns = countTurns()
  const ran: number[] = []
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      await queue.next()
      await undefined
      work(11)
      ran.push(turns.count)
    }),
  )
  turns.stop = true
  expect(new Set(ran).size).toBeGreaterThanOrEqual(5)
})

test('runs short work in the turn in which it comes', async () => {
  const queue = new TurnQueue()
  const turns = countTurns()
  await queue.next()
  expect(turns.count).toBe(0)
  turns.stop = true
})

test('runs nothing until it may', async () => {
  let isOpen = false
  const queue = new TurnQueue(() => isOpen)
  const ran: number[] = []
  for (let index = 0; index < 3; index++) queue.add(() => ran.push(index))
  for (let n = 0; n < 5; n++) await turn()
  expect(ran).toEqual([])
  isOpen = true
  await turn()
  await turn()
  expect(ran).toEqual([0, 1, 2])
})
