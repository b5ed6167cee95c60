import { once } from 'node:events'
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
