import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { chain } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { describe, expect, it } from 'vitest'
import { createForwarder } from './create-forwarder.js'
import { forward, funds, lovelace, openNode, serveRaw, user } from './test/nodes.js'

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
