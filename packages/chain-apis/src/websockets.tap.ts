import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@ratatosk/test-kit/http'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { serve } from './test/served-chain.js'

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
  const { connect } = await serve(t, {
    submit: () => new Promise(() => {}),
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
