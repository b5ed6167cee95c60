import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { exchange, listening, recordedLog, until } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { httpErrors, limitedServer, type ServerLimits, serverLimits } from './index.js'

const busy = '{"error":"Too many connections: retry later"}'

async function build(t: Test, limits: Partial<ServerLimits>) {
  const all = {
    requestTimeoutMs: 10_000,
    keepAliveTimeoutMs: 10_000,
    stallTimeoutMs: 10_000,
    maxConnections: 10,
    alwaysServed: ['/live'],
    ...limits,
  }
  const log = recordedLog()
  const server = fastify({ ...limitedServer(all), logger: { level: 'warn', stream: log.stream } })
  t.teardown(() => server.close())
  await server.register(serverLimits, all)
  await server.register(httpErrors)
  server.get('/live', async () => ({}))
  server.get('/large', async () => Buffer.alloc(32 * 1024 * 1024))
  server.get('/page', async () => Buffer.alloc(256 * 1024))
  server.post('/echo', async (request) => ({ body: request.body }))
  server.get('/slow', async ({ raw: { socket } }) => {
    for (let n = 0; n < 3; n++) await once(socket, 'timeout')
    return 'patience'
  })
  const work = { done: 0 }
  server.get('/work', async () => {
    const until = performance.now() + 5
    while (performance.now() < until);
    work.done++
    return {}
  })
  const gate: { asked: number; open: () => void } = { asked: 0, open: () => undefined }
  const opened = new Promise<void>((resolve) => {
    gate.open = resolve
  })
  server.get('/gate', async () => {
    gate.asked++
    await opened
    return {}
  })
  const { port, get } = await listening(server)
  const open = () => new Promise<number>((resolve) => server.server.getConnections((_error, n) => resolve(n)))
  return { server, log, gate, work, port, get, open }
}

/** A client that sends `text` and, at first, reads nothing. */
async function client(t: Test, port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8').pause()
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

async function answered(socket: Socket): Promise<string> {
  socket.resume()
  const [answer] = await once(socket, 'data')
  return answer
}

t.test('answers 503 with Retry-After on connections beyond the limit, until one is free', async (t) => {
  const { port, get, open, log } = await build(t, { maxConnections: 2 })
  const first = await client(t, port, request('/page'))
  const second = await client(t, port, request('/page'))
  for (const socket of [first, second]) t.match(await answered(socket), /^HTTP\/1\.1 200 /)
  for (const path of ['/page', '/nothing', '/live/']) {
    const refused = await get(path)
    t.equal(refused.status, 503, path)
    t.equal(refused.body, busy)
    t.equal(refused.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(refused.headers['retry-after'], '1')
    t.equal(refused.headers.connection, 'close')
  }
  t.equal((await get('/live')).status, 200, 'a liveness check is served')
  second.write(request('/live'))
  t.match(await answered(second), /200/, 'open connections are still served')
  t.match(log.records(), [{ level: 40, msg: 'Too many connections or requests', refused: 1 }], 'logged once')

  first.destroy()
  await until(async () => (await open()) === 1)
  t.equal((await get('/page')).status, 200)
})

t.test('answers also when many connections beyond the limit wait', async (t) => {
  const { port, get } = await build(t, { maxConnections: 1 })
  const first = await client(t, port, request('/page'))
  t.match(await answered(first), /200/)
  await Promise.all(Array.from({ length: 70 }, () => client(t, port, '')))
  const refused = await get('/page')
  t.equal(refused.status, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.equal((await get('/live')).status, 200, 'a liveness check is served')
})

t.test('closes connections without a request when those beyond the limit are too many', async (t) => {
  const { port, open, log } = await build(t, { maxConnections: 1 })
  const sockets = await Promise.all(Array.from({ length: 66 }, () => client(t, port, '')))
  const closed = sockets.map((socket) => {
    socket.resume()
    return once(socket, 'close')
  })
  await Promise.race(closed)
  t.equal(await open(), 65)
  t.match(log.records(), [{ msg: 'Too many connections or requests', dropped: 1 }])
})

t.test('closes the connection of a client that accepts no data', async (t) => {
  const stalls = { requestTimeoutMs: 100, stallTimeoutMs: 100 }
  for (const [name, text] of [
    ['of one response', request('/large')],
    ['of many small responses', request('/page').repeat(500)],
  ] as const) {
    const { port, open } = await build(t, stalls)
    await client(t, port, text)
    await until(async () => (await open()) === 1, { what: `${name}: connected` })
    await until(async () => (await open()) === 0, { what: `${name}: closed` })
    t.pass(name)
  }
})

t.test('answers 503 to what a connection asks beside 16 requests in progress', async (t) => {
  const { gate, port, get } = await build(t, {})
  const socket = await client(t, port, request('/gate').repeat(1000))
  await until(() => gate.asked > 0)
  t.equal((await get('/page')).status, 200, 'other connections are served')
  t.equal(gate.asked, 16)
  gate.open()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  await once(socket, 'close')
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
  t.same(statuses, [...Array(16).fill('200'), '503'])
  t.ok(text.includes('{"error":"Too many requests on one connection: retry later"}'))
})

t.test('serves any number of requests on a connection whose client reads the responses', async (t) => {
  const { port } = await build(t, {})
  const socket = await client(t, port, '')
  for (let n = 0; n < 100; n++) {
    socket.write(request('/live'))
    t.match(await answered(socket), /^HTTP\/1\.1 200 /)
  }
})

t.test('does not close the connection of a handler that takes its time', async (t) => {
  const { get } = await build(t, { requestTimeoutMs: 50, stallTimeoutMs: 50 })
  t.match(await get('/slow'), { status: 200, body: 'patience' })
})

t.test('closes a connection that waits too long for its next request', async (t) => {
  const { port, open } = await build(t, { keepAliveTimeoutMs: 50 })
  const socket = await client(t, port, request('/live'))
  t.match(await answered(socket), /^HTTP\/1\.1 200 /)
  await once(socket, 'close')
  t.equal(await open(), 0)
})

t.test('closing ends connections that have sent no request, as clients open them ahead', async (t) => {
  const { server, port, open } = await build(t, { requestTimeoutMs: 200_000 })
  const ahead = await client(t, port, '')
  await until(async () => (await open()) === 1)
  const closed = once(ahead.resume(), 'close')
  await server.close()
  await closed
})

t.test('answers 408 to a request that does not arrive, however short other time-outs are', async (t) => {
  const { port } = await build(t, { requestTimeoutMs: 100, stallTimeoutMs: 10, keepAliveTimeoutMs: 10 })
  const post = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n'
  for (const text of ['', 'G', post, `${post}\r\nabc`]) {
    const answer = await exchange(port, text)
    t.equal(answer.status, 408, JSON.stringify(text))
    t.equal(answer.body, '{"error":"Request Timeout"}')
  }
})

t.test('accepts a burst of connections before it handles their requests', async (t) => {
  const { get, work } = await build(t, { maxConnections: 200 })
  await get('/live')
  const answers = Array.from({ length: 100 }, () => get('/work'))
  const live = await get('/live')
  t.equal(live.status, 200)
  t.ok(work.done < 50, `${work.done} of 100 requests were handled before the liveness check`)
  t.ok((await Promise.all(answers)).every(({ status }) => status === 200))
  t.equal(work.done, 100)
})

t.test('handles no pipelined requests of a client that has left while they waited', async (t) => {
  const { port, get, work } = await build(t, { maxConnections: 200 })
  const leaving = connect(port, '127.0.0.1')
  await once(leaving, 'connect')
  const answers = Array.from({ length: 100 }, () => get('/live'))
  leaving.write(request('/work').repeat(16), () => leaving.destroy())
  await Promise.all(answers)
  // Requests keep their order: this one is the last.
  await get('/work')
  t.ok(work.done < 16, `${work.done - 1} of 16 requests were handled`)
})

t.test('counts no injected requests', async (t) => {
  const { server } = await build(t, { maxConnections: 1 })
  for (let n = 0; n < 3; n++) t.equal((await server.inject('/live')).statusCode, 200)
  for (let n = 0; n < 3; n++) t.equal((await server.inject('/page')).statusCode, 200)
})
