import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@ratatosk/test-kit/http'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { WebSocket } from 'ws'
import { serve } from './test/served-chain.js'
import type { SubmitResult } from './view/chain-view.js'

const open = (server: FastifyInstance) => server.websocketServer.clients.size

t.test('closes a WebSocket whose client answers no ping', async (t) => {
  const { server, connect } = await serve(t, {}, { stallTimeoutMs: 1000 })
  const silent = await connect({ autoPong: false })
  const { socket } = await connect()
  t.equal(await silent.closed, 1006)
  await delay(2500)
  t.equal(socket.readyState, socket.OPEN, 'not one that answers')
  t.equal(open(server), 1)
})

t.test('closes a WebSocket whose client does not take the data that waits for it', async (t) => {
  // More than the buffers of the connection hold.
  const hash = '00'.repeat(6 * 1024 * 1024)
  const tip = () => ({ height: 1, slot: 1n, hash })
  const { server, connect } = await serve(t, { tip }, { stallTimeoutMs: 300 })
  const { socket, ask } = await connect()
  socket.pause()
  void ask('queryNetwork/tip')
  const pings = setInterval(() => socket.ping(), 50)
  t.teardown(() => clearInterval(pings))
  await until(() => open(server) === 0, { what: 'the connection is closed' })
})

t.test('keeps a WebSocket whose client takes data slowly', async (t) => {
  const hash = '00'.repeat(6 * 1024 * 1024)
  const tip = () => ({ height: 1, slot: 1n, hash })
  const { connect } = await serve(t, { tip }, { stallTimeoutMs: 2000 })
  const { socket, ask, closed } = await connect()
  const answer = ask('queryNetwork/tip')
  const reading = setInterval(() => {
    socket.resume()
    setImmediate(() => socket.pause())
  }, 500)
  t.teardown(() => clearInterval(reading))
  socket.pause()
  const isWhole = answer.then(({ result }) => result.id.length === hash.length)
  t.equal(await Promise.race([isWhole, closed]), true)
})

t.test('answers the requests of a mini-protocol in their order, also behind one that waits', async (t) => {
  const changes = new EventEmitter()
  const entries: { hash: string; bytes: number }[] = []
  let tip = { height: 0, slot: 0n, hash: '00'.repeat(32) }
  const { connect } = await serve(t, {
    submit: () => new Promise(() => {}),
    tip: async () => tip,
    mempool: () => delay(20, [...entries]),
    subscribe: (listener) => {
      changes.on('change', listener)
      return () => changes.off('change', listener)
    },
  })
  const { socket } = await connect()
  const answers: string[] = []
  socket.on('message', (data) => {
    const { id, error } = JSON.parse(String(data))
    answers.push(error ? `${id}: ${error.code}` : id)
  })
  const send = (...methods: string[]) => {
    for (const method of methods) socket.send(JSON.stringify({ jsonrpc: '2.0', method, id: method }))
  }
  send('nextBlock', 'nextBlock', 'findIntersection', 'acquireMempool', 'sizeOfMempool', 'releaseMempool')
  const transaction = { cbor: '80' }
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'submitTransaction', params: { transaction } }))
  send('nextTransaction', 'evaluateTransaction', 'queryNetwork/tip')
  const ofMempool = ['acquireMempool', 'sizeOfMempool', 'releaseMempool', 'nextTransaction: 4000']
  await until(() => answers.length === 6, { what: 'all are answered but those behind the tip' })
  t.same(
    answers.filter((id) => id.includes('Mempool') || id.includes('Transaction')),
    ofMempool,
  )
  t.same(answers.slice().sort(), [...ofMempool, 'nextBlock', 'queryNetwork/tip'].sort())

  answers.length = 0
  send('acquireMempool', 'acquireMempool', 'nextTransaction', 'queryNetwork/tip')
  await until(() => answers.length === 2)
  t.same(answers, ['queryNetwork/tip', 'acquireMempool'])
  entries.push({ hash: '00'.repeat(32), bytes: 1 })
  changes.emit('change', { type: 'transaction' })
  await until(() => answers.length === 4)
  t.same(answers.slice(2), ['acquireMempool', 'nextTransaction'])

  answers.length = 0
  send('acquireMempool')
  tip = { height: 1, slot: 20n, hash: '01'.repeat(32) }
  changes.emit('change', { type: 'block' })
  await until(() => answers.length === 1, { what: 'a snapshot after another block' })
})

t.test('answers 503 beyond maxWebSockets', async (t) => {
  const { server, connect } = await serve(t, {}, { maxWebSockets: 2 })
  const { socket } = await connect()
  await connect()
  await t.rejects(connect(), { message: 'Unexpected server response: 503' })
  const { statusCode } = await server.inject('/ogmios/health')
  t.equal(statusCode, 200)
  socket.close()
  await once(socket, 'close')
  await until(() => open(server) === 1)
  t.match(await (await connect()).ask('queryNetwork/tip'), { result: 'origin' })
})

const request = (method: string, id: number, params?: object) =>
  JSON.stringify({ jsonrpc: '2.0', method, id, params })

/** The ids of the answers that a client receives. */
function idsOf(socket: WebSocket): number[] {
  const ids: number[] = []
  socket.on('message', (data) => ids.push(JSON.parse(String(data)).id))
  return ids
}

const upTo = (count: number) => Array.from({ length: count }, (_, id) => id)

/** A chain whose tip answers when the test says so. */
function gated() {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const tip = async () => {
    await gate
    return { height: 0, slot: 0n, hash: '00'.repeat(32) }
  }
  return { tip, open: () => open() }
}

t.test('answers every request of a client that sends thousands before it reads', async (t) => {
  const { connect } = await serve(t)
  const { socket } = await connect()
  const ids = idsOf(socket)
  socket.pause()
  for (const id of upTo(10_000)) socket.send(request('queryNetwork/tip', id))
  await delay(300)
  socket.resume()
  await until(() => ids.length === 10_000, { what: 'all are answered' })
  t.same(ids, upTo(10_000))
})

t.test('answers a submission with thousands of requests behind it', async (t) => {
  let settle = (_result: SubmitResult) => {}
  const { connect } = await serve(t, {
    submit: () =>
      new Promise((resolve) => {
        settle = resolve
      }),
  })
  const { socket } = await connect()
  const ids = idsOf(socket)
  socket.send(request('submitTransaction', -1, { transaction: { cbor: '80' } }))
  for (const id of upTo(2500)) socket.send(request('queryNetwork/tip', id))
  await until(() => ids.length === 2500)
  settle({ kind: 'accepted', hash: '00'.repeat(32) })
  await until(() => ids.length === 2501)
  t.equal(ids.at(-1), -1)
})

t.test('reads no more of a client while 1 MiB of requests wait, and loses none', async (t) => {
  const { tip, open } = gated()
  const { connect } = await serve(t, { tip }, { stallTimeoutMs: 300 })
  const { socket } = await connect()
  const ids = idsOf(socket)
  // More than the buffers of the connection hold.
  for (const id of upTo(150)) socket.send(request('queryNetwork/tip', id).padEnd(200 * 1024))
  await delay(1500)
  t.ok(socket.bufferedAmount > 8 * 1024 * 1024, `${socket.bufferedAmount} bytes are not sent`)
  t.equal(socket.readyState, socket.OPEN, 'though no pong was read')
  open()
  await until(() => ids.length === 150, { what: 'all are answered' })
  t.same(ids, upTo(150))
  await delay(1000)
  t.equal(socket.readyState, socket.OPEN, 'pongs are read again')
})

t.test('holds what came together with the request that was too much', async (t) => {
  const { tip, open } = gated()
  const { connect } = await serve(t, { tip })
  const { socket } = await connect()
  const ids = idsOf(socket)
  for (const id of upTo(30_000)) socket.send(id % 3000 === 0 ? request('queryNetwork/tip', id) : '{')
  await delay(300)
  open()
  await until(() => ids.length === 30_000, { what: 'all are answered' })
  t.same(
    ids.filter((id) => id !== null),
    upTo(10).map((id) => 3000 * id),
  )
})

t.test('notices that a client left whose requests are not read', async (t) => {
  const { server, connect } = await serve(t, { tip: () => new Promise(() => {}) }, { stallTimeoutMs: 300 })
  const { socket } = await connect()
  for (const id of upTo(5000)) socket.send(request('queryNetwork/tip', id))
  await delay(300)
  socket.terminate()
  await until(() => server.websocketServer.clients.size === 0, { what: 'the connection is closed' })
})

t.test('closes with a server that reads no more of a client', async (t) => {
  const { server, connect } = await serve(t, { tip: () => new Promise(() => {}) })
  const { socket } = await connect()
  for (const id of upTo(5000)) socket.send(request('queryNetwork/tip', id))
  await delay(300)
  const began = performance.now()
  await Promise.all([server.close(), once(socket, 'close')])
  t.ok(performance.now() - began < 5000)
})

t.test('answers the requests before a message that is too long, and then closes', async (t) => {
  const { tip, open } = gated()
  const { connect } = await serve(t, { tip })
  const { socket, closed } = await connect()
  const ids = idsOf(socket)
  for (const id of upTo(10)) socket.send(request('queryNetwork/tip', id))
  socket.send(' '.repeat(512 * 1024 + 1))
  await delay(100)
  open()
  t.equal(await closed, 1009)
  t.same(ids, upTo(10))
})

t.test('submits a chain of transactions in reverse, and answers in order', async (t) => {
  const cbors = upTo(8).map((number) => `8${number}`)
  const submitted: string[] = []
  const waiting: (() => void)[] = []
  const { connect } = await serve(t, {
    submit: (cbor) =>
      new Promise((resolve) => {
        submitted.push(Buffer.from(cbor).toString('hex'))
        waiting.push(() => resolve({ kind: 'accepted', hash: '00'.repeat(32) }))
        // The last is the parent for which the others wait.
        if (submitted.length === cbors.length) for (const accept of waiting.toReversed()) accept()
      }),
  })
  const { socket } = await connect()
  const ids = idsOf(socket)
  for (const [id, cbor] of cbors.entries())
    socket.send(request('submitTransaction', id, { transaction: { cbor } }))
  await until(() => ids.length === cbors.length, { what: 'all are answered' })
  t.same(ids, upTo(8))
  t.same(submitted, cbors, 'handed over in order')
})

t.test('evaluates after the submissions before it and before those behind it', async (t) => {
  const steps: string[] = []
  const { connect } = await serve(t, {
    async submit() {
      steps.push('submit')
      await delay(20)
      steps.push('submitted')
      return { kind: 'accepted', hash: '00'.repeat(32) }
    },
    async evaluate() {
      steps.push('evaluate')
      await delay(20)
      steps.push('evaluated')
      return { kind: 'busy' }
    },
  })
  const { socket } = await connect()
  const ids = idsOf(socket)
  for (const [id, method] of ['submit', 'submit', 'evaluate', 'submit'].entries())
    socket.send(request(`${method}Transaction`, id, { transaction: { cbor: '80' } }))
  await until(() => ids.length === 4)
  t.same(ids, upTo(4))
  const both = ['submit', 'submit', 'submitted', 'submitted']
  t.same(steps, [...both, 'evaluate', 'evaluated', 'submit', 'submitted'])
})

t.test('has at most 64 submissions of one client in progress', async (t) => {
  let running = 0
  let most = 0
  const { connect } = await serve(t, {
    async submit() {
      most = Math.max(most, ++running)
      await delay(20)
      running--
      return { kind: 'accepted', hash: '00'.repeat(32) }
    },
  })
  const { socket } = await connect()
  const ids = idsOf(socket)
  for (const id of upTo(200)) socket.send(request('submitTransaction', id, { transaction: { cbor: '80' } }))
  await until(() => ids.length === 200)
  t.equal(most, 64)
})
