import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { accepted, areEventsLost, listen, readHistory, rejected } from './events.js'

const at = '2026-03-04T05:06:07.000Z'

test('many acceptances take no rejection away', () => {
  const rejection = { id: 's-1', code: 'FeeTooSmallUTxO', reason: 'The fee is too small', at }
  rejected.add(rejection)
  for (let second = 0; second < 10; second++) {
    for (let n = 0; n < 200; n++) accepted.add({ txHash: `${second}.${n}`, at })
    for (const kind of [accepted, rejected]) kind.show()
  }
  expect(rejected.shown.value).toEqual([rejection])
  expect(accepted.shown.value.map(({ txHash }) => txHash)).toEqual(
    [199, 198, 197, 196, 195, 194].map((n) => `9.${n}`),
  )
})

test('a transaction that is accepted again is listed once', () => {
  for (const txHash of ['a', 'b', 'a']) accepted.add({ txHash, at })
  accepted.show()
  accepted.add({ txHash: 'b', at })
  accepted.show()
  expect(accepted.shown.value.slice(0, 3).map(({ txHash }) => txHash)).toEqual(['b', 'a', '9.199'])
})

describe('history', () => {
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
})

// Listening never ends, so that this is the last.
describe('events', () => {
  /** Requests that wait for their answer. */
  const asked: { readonly path: string | undefined; readonly answer: ServerResponse }[] = []
  const server = createServer(({ url: path }, answer) => {
    answer.setHeader('content-type', 'text/event-stream; charset=utf-8')
    asked.push({ path, answer })
  })

  /** The page; it is hidden and shown by the tests. */
  const page = Object.assign(new EventTarget(), { hidden: false })
  function hide(hidden: boolean): void {
    page.hidden = hidden
    page.dispatchEvent(new Event('visibilitychange'))
  }

  beforeAll(async () => {
    vi.stubGlobal('document', page)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { fetch } = globalThis
    // Paths of a page are relative to it.
    vi.stubGlobal('fetch', (path: string, init: RequestInit) => fetch(new URL(path, base), init))
  })
  afterAll(() => {
    // A listener waits for the next stream until the process ends.
    vi.stubGlobal('fetch', () => new Promise(() => undefined))
    server.closeAllConnections()
    server.close()
  })

  async function nextRequest() {
    await vi.waitUntil(() => asked.length > 0, 10_000)
    return asked.shift()!
  }

  const event = (id: string, type: string) =>
    `id: ${id}\nevent: ${type}\ndata: {"txHash":"${id}","at":""}\n\n`

  test('each event comes once, whatever ends a stream, and the page knows when events are lost', async () => {
    const heard: string[] = []
    const note = (what: string) => (data?: object) =>
      heard.push(data && 'txHash' in data ? `${what} ${data.txHash}` : what)
    void listen(
      {
        accepted: note('accepted'),
        rejected: note('rejected'),
        block: note('block'),
        verdict: note('verdict'),
        begun: note('begun'),
      },
      { ended: 1, refused: 2 },
    )
    const hears = (...all: string[]) =>
      vi.waitUntil(() => heard.length >= all.length, 10_000).then(() => expect(heard.splice(0)).toEqual(all))

    const first = await nextRequest()
    expect(first.path).toBe('/events')
    first.answer.write('retry: 1000\nid: 7.0.0\n\n')
    // The state that the page read before its stream began may lack changes before this position.
    await hears('begun')
    expect(areEventsLost.value).toBe(false)
    first.answer.destroy()

    const second = await nextRequest()
    expect(second.path, 'without an event so far').toBe('/events?after=7.0.0')
    expect(areEventsLost.value).toBe(true)
    second.answer.writeHead(503).end()

    const proxy = await nextRequest()
    proxy.answer.setHeader('content-type', 'text/html').end('<html>\n\n<p>A proxy asks who you are.\n\n')

    const third = await nextRequest()
    expect(third.path).toBe('/events?after=7.0.0')
    expect(areEventsLost.value, 'a refusal is no stream').toBe(true)
    const events = `id: 7.0.0\n\n${event('8.0.0', 'accepted')}${event('8.0.1', 'block')}:\nid: 9.0.1\n\n`
    third.answer.write(events.slice(0, 30))
    third.answer.write(events.slice(30))
    await hears('begun', 'accepted 8.0.0', 'block 8.0.1')
    third.answer.end(event('9.1.1', 'rejected') + event('9.1.1.1', 'verdict').slice(0, -2))
    await hears('rejected 9.1.1')

    const fourth = await nextRequest()
    expect(fourth.path, 'what was cut off is asked for again').toBe('/events?after=9.1.1')
    fourth.answer.write(event('9.1.1.1', 'verdict'))
    await hears('begun', 'verdict 9.1.1.1')
    const line = 'a\u2028id: 1.0.0'
    fourth.answer.write(`id: 9.2.1.1\nevent: rejected\ndata: {"txHash":"${line}"}\n\n`)
    await hears(`rejected ${line}`)

    const left = once(fourth.answer, 'close')
    hide(true)
    await left
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(asked, 'a hidden page takes no connection').toEqual([])
    expect(areEventsLost.value).toBe(false)
    hide(false)
    const fifth = await nextRequest()
    expect(fifth.path).toBe('/events?after=9.2.1.1')
    fifth.answer.write(event('9.3.1.1', 'rejected'))
    await hears('begun', 'rejected 9.3.1.1')
  })

  test('a fault of a listener is reported, and the next event comes', async () => {
    const faults: unknown[] = []
    vi.stubGlobal('reportError', (fault: unknown) => faults.push(fault))
    const heard: (string | undefined)[] = []
    const fault = new TypeError('the page is broken')
    const nothing = () => undefined
    const accepted = ({ txHash }: { txHash?: string }) => {
      if (txHash === '2.0.0') throw fault
      heard.push(txHash)
    }
    void listen({ accepted, rejected: nothing, block: nothing, verdict: nothing, begun: nothing })
    const { answer } = await nextRequest()
    answer.write(event('1.0.0', 'accepted') + event('2.0.0', 'accepted') + event('3.0.0', 'accepted'))
    await vi.waitUntil(() => heard.length > 1, 10_000)
    expect(heard).toEqual(['1.0.0', '3.0.0'])
    expect(faults).toEqual([fault])
    expect(asked).toEqual([])
  })

  test('the next stream waits as long as Retry-After says, within reason', async () => {
    const waits: (number | undefined)[] = []
    const { setTimeout: later } = globalThis
    vi.stubGlobal('setTimeout', (work: () => void, ms?: number) => {
      // Others are time limits of a stream.
      const isWait = ms !== 20_000
      if (isWait) waits.push(ms)
      return later(work, isWait ? 0 : ms)
    })
    onTestFinished(() => void vi.stubGlobal('setTimeout', later))
    const nothing = () => undefined
    void listen({ accepted: nothing, rejected: nothing, block: nothing, verdict: nothing, begun: nothing })
    for (const after of ['60', '1', '999999', 'Fri, 31 Dec 2027 23:59:59 GMT']) {
      const { answer } = await nextRequest()
      waits.length = 0
      answer.writeHead(503, { 'retry-after': after }).end()
      const next = await nextRequest()
      expect(
        waits.filter((ms) => ms !== undefined && ms >= 5_000),
        after,
      ).toEqual([{ 60: 60_000, 1: 5_000, 999999: 300_000 }[after] ?? 5_000])
      asked.unshift(next)
    }
  })
})
