import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readHistory } from './history.js'

const asked: string[] = []

/** Answers each request with the next text; `undefined` is a stream in which nothing comes. */
function serve(...texts: (string | undefined)[]): void {
  vi.stubGlobal('fetch', async (path: string, { signal }: { signal: AbortSignal }) => {
    asked.push(path)
    const text = texts.shift()
    const body = new ReadableStream({
      start(controller) {
        if (text !== undefined) controller.enqueue(new TextEncoder().encode(text))
        signal.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
}

const at = '2026-03-04T05:06:07.000Z'
const event = (id: string) => `id: ${id}\nevent: accepted\ndata: {"txHash":"ab","at":"${at}"}\n\n`

beforeEach(() => {
  asked.length = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.stubGlobal('window', globalThis)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** After a minute without anything from the node. */
async function afterSilence<T>(work: Promise<T>): Promise<T> {
  const caught = work.catch((error: unknown) => error)
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
  vi.advanceTimersByTime(60_000)
  await caught
  return work
}

test('is whole once the position of its beginning is reached', async () => {
  serve('id: 6000.0.0\n\n', `id: 1000.0.0\n\n${event('5999.0.0')}${event('6000.0.0')}`)
  const { events, isWhole } = await readHistory(0)
  expect(asked).toEqual(['events', 'events?type=accepted,rejected,block&after=1000.0.0'])
  expect([events.length, isWhole]).toEqual([2, true])
})

test('nothing at all is whole', async () => {
  serve('id: 0.0.0\n\n', 'id: 0.0.0\n\n')
  expect(await readHistory(0)).toEqual({ events: [], isWhole: true })
})

test('a node that sends no position is an error, and not all its events are read', async () => {
  serve(undefined)
  await expect(afterSilence(readHistory(0))).rejects.toThrow('The node has sent nothing')
  expect(asked).toEqual(['events'])
})

test('what a node has not sent in time is missing', async () => {
  serve('id: 2.0.0\n\n', `id: 0.0.0\n\n${event('1.0.0')}`)
  const { events, isWhole } = await afterSilence(readHistory(0))
  expect([events.length, isWhole]).toEqual([1, false])
})
