import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { areEventsLost, listen } from './events.js'

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

const event = (id: string, type: string) => `id: ${id}\nevent: ${type}\ndata: {"txHash":"${id}","at":""}\n\n`

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
  await hears('begun', 'verdict')
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
