import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { areEventsLost, listen } from './events.js'

/** As in a browser, which Node.js has no `EventSource` of: it stays closed after an answer such as 503. */
class Source extends EventTarget {
  static readonly CLOSED = 2
  static readonly opened: Source[] = []
  readyState = 0

  constructor(readonly url: string) {
    super()
    Source.opened.push(this)
  }

  become(readyState: number, type: string): void {
    this.readyState = readyState
    this.dispatchEvent(new Event(type))
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', Source)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('what an answer has closed is opened again, and the page knows', () => {
  const listener = { accepted: vi.fn(), rejected: vi.fn(), block: vi.fn(), verdict: vi.fn(), back: vi.fn() }
  const { opened } = Source
  listen(listener)
  opened[0]?.become(1, 'open')
  expect([areEventsLost.value, listener.back.mock.calls.length]).toEqual([false, 0])

  opened[0]?.become(0, 'error')
  expect(areEventsLost.value).toBe(true)
  vi.advanceTimersByTime(60_000)
  expect(opened.length, 'the browser connects again').toBe(1)

  opened[0]?.become(2, 'error')
  vi.advanceTimersByTime(4_999)
  expect(opened.length).toBe(1)
  vi.advanceTimersByTime(1)
  expect(opened.map(({ url }) => url)).toEqual(['events', 'events'])
  expect(areEventsLost.value).toBe(true)
  opened[1]?.become(1, 'open')
  expect([areEventsLost.value, listener.back.mock.calls.length]).toEqual([false, 1])
  opened[1]?.dispatchEvent(new MessageEvent('accepted', { data: '{"txHash":"ab","at":""}' }))
  expect(listener.accepted).toHaveBeenCalledWith({ txHash: 'ab', at: '' })
  opened[1]?.dispatchEvent(new MessageEvent('verdict', { data: '{"at":""}' }))
  expect(listener.verdict).toHaveBeenCalledOnce()
})

test('what is opened again begins after the last event', () => {
  const listener = { accepted: vi.fn(), rejected: vi.fn(), block: vi.fn(), verdict: vi.fn(), back: vi.fn() }
  const first = Source.opened.length
  listen(listener)
  const event = (type: string, lastEventId: string) =>
    Source.opened.at(-1)?.dispatchEvent(new MessageEvent(type, { data: '{"at":""}', lastEventId }))
  event('accepted', '1.0.0')
  event('block', '1.0.1')
  for (const _ of [1, 2]) {
    Source.opened.at(-1)?.become(2, 'error')
    vi.advanceTimersByTime(5_000)
  }
  event('rejected', '1.1.1')
  Source.opened.at(-1)?.become(2, 'error')
  vi.advanceTimersByTime(5_000)
  expect(Source.opened.slice(first).map(({ url }) => url)).toEqual([
    'events',
    'events?after=1.0.1',
    'events?after=1.0.1',
    'events?after=1.1.1',
  ])
})
