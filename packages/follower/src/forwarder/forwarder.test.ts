import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { acceptedOf, breakableProxy, chain, type SignedTransaction, signed } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { describe, expect, it, test } from 'vitest'
import { serveRaw } from '../test/following.js'
import { createForwarder, createSchedule } from './create-forwarder.js'
import { forward, funds, lovelace, openNode, user } from './test/nodes.js'

const chains = (count: number, length: number, from = 0): SignedTransaction[] =>
  funds.slice(from, from + count).flatMap(({ reference }) => chain(user, reference, lovelace, length))

test('a ring of nodes brings a transaction to all, and ends where it began', async (context) => {
  const nodes = await Promise.all([0, 1, 2].map(() => openNode(context)))
  const forwarders = nodes.map((node, n) => forward(node, [nodes[(n + 1) % 3]!.url]))
  const sent = chains(1, 3)
  await nodes[0]!.accept(sent)
  await until(async () => (await nodes[2]!.count(sent)) === 3)
  await until(() => forwarders[2]!.counts().known >= 3)
  expect(forwarders[2]!.counts().delivered).toBe(0)
  expect(nodes[0]!.asked.submit).toBe(0)
})

test('a long chain arrives, whatever order its requests take', async (context) => {
  const [own, other] = await Promise.all([0, 1].map(() => openNode(context)))
  const { counts } = forward(own!, [other!.url])
  const sent = chains(1, 400)
  await own!.accept(sent)
  await until(async () => (await other!.count(sent)) === sent.length)
  await until(() => counts().delivered >= sent.length)
})

test('pages follow at once, also when their bytes fill them', async (context) => {
  const { store } = await openNode(context)
  // Larger than validation accepts.
  const outputs = Array.from({ length: 320 }, () => lovelace / 320n)
  const sent = funds.map(({ reference }) => signed(user, { inputs: [reference], outputs }))
  expect(sent.reduce((sum, { cbor }) => sum + cbor.length, 0)).toBeGreaterThan(1_048_576)
  const transactions = sent.map(({ cbor }) => acceptedOf(cbor))
  await store.withLedger((ledger) => ledger.apply({ transactions }))
  const peer = await serveRaw((request, response) => {
    request.resume()
    response.end('{"status":"unknown"}')
  })
  const { counts } = forward({ store }, [peer], { pollMs: 3_600_000 })
  await until(() => counts().delivered === sent.length)
})

test('a peer has them in order of acceptance, and after a failure from the oldest on', async (context) => {
  const own = await openNode(context)
  const sent = chains(2, 10)
  await own.accept(sent)
  await until(async () => (await own.count(sent)) === sent.length)
  const accepted = (await own.store.blocks.oldest(100)).map(({ cbor }) => Buffer.from(cbor).toString('hex'))
  const taken: number[] = []
  let failures = 0
  const peer = await serveRaw(async (request, response) => {
    const body = await text(request)
    if (body !== '' && failures++ < 3) response.writeHead(500)
    else if (body !== '') taken.push(accepted.indexOf(body))
    response.end('{"status":"unknown"}')
  })
  forward(own, [peer], { concurrency: 1, repeatMs: 3_600_000 })
  await until(() => taken.length === sent.length)
  const [first, ...rest] = taken
  expect(first, 'three have failed').toBe(3)
  expect(rest).toEqual(accepted.map((_, place) => place).filter((place) => place !== 3))
})

test('an unreachable peer does not delay another, and has everything once it is there', async (context) => {
  const [own, other, late] = await Promise.all([0, 1, 2].map(() => openNode(context)))
  const proxy = await breakableProxy(late!.url)
  context.onTestFinished(() => proxy.close())
  const { counts, warnings } = forward(own!, [proxy.url, other!.url])
  const sent = chains(20, 10)
  await proxy.break()
  await own!.accept(sent)
  await until(async () => (await other!.count(sent)) === sent.length)
  await until(() => counts().failed > 150)
  expect(warnings).toEqual([
    expect.objectContaining({
      peer: proxy.url.replace(/\/$/, ''),
      reason: expect.stringContaining('ECONNREFUSED'),
      message: expect.stringContaining('Peer takes no transactions'),
    }),
  ])
  expect(await late!.count(sent)).toBe(0)
  await proxy.mend()
  // Rounds take a tenth of the time: on a busy machine, the next one may begin after two minutes.
  await until(async () => (await late!.count(sent)) === sent.length, { timeoutMs: 270_000 })
})

test('nothing is sent while it is not needed; then all of it', async (context) => {
  const [own, other] = await Promise.all([0, 1].map(() => openNode(context)))
  let asked = 0
  let isNeeded = false
  forward(own!, [other!.url], {
    isNeeded: () => {
      asked++
      return isNeeded
    },
  })
  const sent = chains(3, 2)
  await own!.accept(sent)
  await until(async () => (await own!.count(sent)) === 6)
  const before = asked
  await until(() => asked > before + 20)
  expect(other!.asked).toEqual({ submit: 0, status: 0 })
  isNeeded = true
  await until(async () => (await other!.count(sent)) === 6)
})

test('a peer that forgets has it again, until it is in a block or dropped', async (context) => {
  const own = await openNode(context)
  const deliveries = new Map<string, number>()
  const forgetful = await serveRaw(async (request, response) => {
    const body = await text(request)
    if (body !== '') deliveries.set(body, (deliveries.get(body) ?? 0) + 1)
    response.end('{"status":"unknown"}')
  })
  forward(own, [forgetful])
  const sent = chains(2, 1)
  const times = ({ cbor }: SignedTransaction) => deliveries.get(Buffer.from(cbor).toString('hex')) ?? 0
  await own.accept(sent)
  await until(() => sent.every((each) => times(each) >= 4))

  const lease = (await own.store.leases.acquire('sequencer', 'a test', 3_600_000))!
  const [first, second] = await own.store.blocks.oldest(2)
  const bytes = (length: number) => new Uint8Array(length).fill(7)
  await own.store.blocks.build(
    {
      headerHash: bytes(28),
      header: bytes(1),
      previousHeaderHash: new Uint8Array(28),
      utxosRoot: bytes(32),
      startTime: 0n,
      endTime: 1n,
      firstSequence: first!.sequence,
      lastSequence: first!.sequence,
      transactions: 1,
      commitTransaction: { id: bytes(32), cbor: bytes(1) },
    },
    lease,
  )
  const reason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late.', details: {} }
  await own.store.blocks.drop(
    new Map([[Buffer.from(second!.id).toString('hex'), reason]]),
    () => undefined,
    lease,
  )
  // A third one shows that the forwarder goes on; what began before the block and the drop may end meanwhile.
  const [third] = chains(1, 1, 2)
  await own.accept([third!])
  await until(() => times(third!) >= 1)
  const before = sent.map(times)
  await until(() => times(third!) >= 5)
  expect(sent.map(times)).toEqual(before)
})

const sent = funds.slice(0, 12).flatMap(({ reference }) => chain(user, reference, lovelace, 3))
const all = sent.length

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** Sends zeros until the other side hangs up. */
function flood(response: ServerResponse, count: { bytes: number }): void {
  const piece = Buffer.alloc(65_536)
  const more = () => {
    while (!response.destroyed && count.bytes < 10_000_000_000) {
      count.bytes += piece.length
      if (!response.write(piece)) return
    }
    response.end()
  }
  response.on('drain', more)
  response.on('error', () => undefined)
  response.writeHead(200)
  more()
}

describe('an honest peer has everything', () => {
  const cases: Record<string, Answer> = {
    'that never answers': () => undefined,
    'that stalls in its answer': (response) => void response.writeHead(200).write('{'),
    'that answers byte by byte': (response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    },
    'that closes the connection': (response) => void response.destroy(),
    'that breaks off its answer': (response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{', () => response.destroy())
    },
    'that redirects': (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'that answers with status 500': (response) => response.writeHead(500).end(),
    'that answers with status 404': (response) => response.writeHead(404).end(),
    'that is busy forever': (response) => response.writeHead(503, { 'retry-after': '1e99' }).end(),
    'that is busy for no time': (response) => response.writeHead(429, { 'retry-after': '-1' }).end(),
    'that answers something else': (response) => response.writeHead(200).end('null'),
    'that compresses': (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"status":"unknown"}')),
    'that says that it had all before': (response) => response.end('{"status":"merged"}'),
  }

  it(`beside one ${Object.keys(cases).join(', one ')}`, async (context) => {
    const [own, honest] = await Promise.all([0, 1].map(() => openNode(context)))
    const bad = await Promise.all(
      Object.values(cases).map((answer) => serveRaw((request, response) => answer(response, request))),
    )
    const { counts } = forward(own!, [...bad, honest!.url], { timeoutMs: 3000 })
    await own!.accept(sent)
    await until(async () => (await honest!.count(sent)) === all)
    await until(() => counts().delivered >= all)
  })
})

it('reads little of an answer that does not end, and counts it by its status', async (context) => {
  const own = await openNode(context)
  const count = { bytes: 0 }
  const peer = await serveRaw((request, response) => {
    request.resume()
    flood(response, count)
  })
  const { counts } = forward(own, [peer])
  await own.accept(sent)
  await until(() => counts().delivered >= all)
  // Two answers each, of what the buffers of a connection hold.
  expect(count.bytes).toBeLessThan(all * 2 * 16 * 1024 * 1024)
})

it('leaves a peer alone for as long as it asks', async (context) => {
  const own = await openNode(context)
  const honest = await openNode(context)
  const times: number[] = []
  const busy = await serveRaw((_, response) => {
    times.push(performance.now())
    if (times.length === 1) response.writeHead(429, { 'retry-after': '2' }).end()
    else response.end('{"status":"mempool"}')
  })
  const { counts } = forward(own, [busy, honest.url], { concurrency: 1 })
  await own.accept(sent)
  await until(() => times.length > 1)
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1990)
  expect(counts().failed).toBe(0)
})

it('sends the others when a peer never takes one of them', async (context) => {
  const own = await openNode(context)
  const poison = Buffer.from(sent[0]!.cbor).toString('hex')
  const taken = new Set<string>()
  for (const kind of ['breaks', 'stalls', 'fails', 'refuses'] as const) {
    taken.clear()
    const peer = await serveRaw(async (request, response) => {
      const body = await text(request)
      if (body === poison) {
        if (kind === 'breaks') response.destroy()
        if (kind === 'fails') response.writeHead(500).end()
        if (kind === 'refuses') response.writeHead(403).end()
        return
      }
      if (body !== '') taken.add(body)
      response.end('{"status":"unknown"}')
    })
    const { close } = forward(own, [peer], { timeoutMs: 300, concurrency: 4 })
    await own.accept(sent)
    await until(() => taken.size === all - 1, { what: `a peer that ${kind} takes the others` })
    await close()
  }
})

it('sends the others when a peer never takes more of them than are sent at once', async (context) => {
  const own = await openNode(context)
  await own.accept(sent)
  await until(async () => (await own.count(sent)) === all)
  const accepted = (await own.store.blocks.oldest(100)).map(({ cbor }) => Buffer.from(cbor).toString('hex'))
  const poison = new Set(accepted.slice(0, 20))
  const taken = new Set<string>()
  const peer = await serveRaw(async (request, response) => {
    const body = await text(request)
    if (poison.has(body)) return response.destroy()
    if (body !== '') taken.add(body)
    return response.end('{"status":"unknown"}')
  })
  const { counts } = forward(own, [peer], { concurrency: 4, repeatMs: 3_600_000 })
  await until(() => taken.size === all - poison.size)
  // Each once, and again when the peer takes others.
  expect(counts().failed).toBeLessThanOrEqual(2 * poison.size)
})

it('closes while a peer stalls', async (context) => {
  const own = await openNode(context)
  const open = new Set<IncomingMessage['socket']>()
  let asked = 0
  const stalls = await serveRaw(({ socket }) => {
    asked++
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await own.accept(sent)
  await until(async () => (await own.count(sent)) === all)
  const { close, counts } = forward(own, [stalls], { timeoutMs: 3_600_000, concurrency: 8 })
  await until(() => asked === 8)
  await close()
  await until(() => open.size === 0)
  expect(counts()).toEqual({ delivered: 0, known: 0, refused: 0, failed: 0 })
})

it('refuses a URL with a password, and does not quote it', async (context) => {
  const own = await openNode(context)
  for (const url of ['http://user:swordfish@peer:3000', 'ftp://swordfish', 'swordfish']) {
    const open = () =>
      createForwarder({ mempool: own.store.blocks, peers: [url], isNeeded: () => true, log: console })
    expect(open).toThrow(TypeError)
    expect(open).not.toThrow(/swordfish/)
  }
})

const id = (text: string): Uint8Array => new TextEncoder().encode(text)

test('asks at growing intervals up to five minutes', () => {
  const schedule = createSchedule(10_000)
  const waits: number[] = []
  let now = 0
  for (let time = 0; time < 8; time++) {
    expect(schedule.isDue(id('a'), now)).toBe(true)
    schedule.asked(id('a'), now, time % 2 === 0)
    const before = now
    while (!schedule.isDue(id('a'), now)) now += 1000
    waits.push(now - before)
  }
  expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000])
})

test('forgives what had no answer once, and nothing else', () => {
  const schedule = createSchedule(10_000)
  schedule.asked(id('a'), 0, true)
  schedule.asked(id('b'), 0, true)
  schedule.asked(id('b'), 10_000, false)
  for (const now of [0, 10_000]) schedule.asked(id('c'), now, false)
  schedule.forgive()
  expect(['a', 'b', 'c'].map((text) => schedule.isDue(id(text), 1))).toEqual([false, true, false])
  expect(['a', 'b', 'c'].map((text) => schedule.isDoubtful(id(text)))).toEqual([false, false, true])
})

test('forgets the transactions that were asked for longest ago', () => {
  const schedule = createSchedule(10_000)
  for (let n = 0; n < 20_000; n++) schedule.asked(id(String(n)), 0, true)
  schedule.asked(id('0'), 0, true)
  schedule.asked(id('one more'), 0, true)
  expect(['0', '1', '2'].map((text) => schedule.isDue(id(text), 1))).toEqual([false, true, false])
})
