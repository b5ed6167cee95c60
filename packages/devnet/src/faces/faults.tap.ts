import { once } from 'node:events'
import { type Test, test } from 'tap'
import { WebSocket } from 'ws'
import type { FaultKind } from '../faults/types.js'
import { aliceGenesis, payment } from '../test/scenes.js'
import { serveDevnet } from '../test/served-devnet.js'
import { garbage } from './fault-hook.js'

const query = JSON.stringify({ jsonrpc: '2.0', method: 'queryNetwork/tip', id: 7 })

async function open(t: Test) {
  const served = await serveDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  t.teardown(() => served.close())
  const faces: Readonly<Record<string, (signal?: AbortSignal) => Promise<Response>>> = {
    blockfrost: (signal) => fetch(`${served.blockfrost}/blocks/latest`, { signal: signal ?? null }),
    kupo: (signal) => fetch(`${served.kupo}/health`, { signal: signal ?? null }),
    ogmios: (signal) => fetch(served.ogmios, { method: 'POST', body: query, signal: signal ?? null }),
  }
  return { ...served, faces }
}

for (const face of ['blockfrost', 'kupo', 'ogmios'] as const) {
  test(`faults at ${face}`, async (t) => {
    const { devnet, faces } = await open(t)
    const ask = faces[face]!
    const fault = (kind: FaultKind) => devnet.faults.inject({ kind, face, delayMs: 1 })

    t.equal((await ask()).status, 200)
    for (const [kind, status] of [
      ['rate-limit', 429],
      ['failure', 500],
    ] as const) {
      fault(kind)
      const response = await ask()
      t.equal(response.status, status, kind)
      t.type(await response.json(), 'object')
    }
    fault('garbage')
    const response = await ask()
    t.equal(response.status, 200, 'garbage')
    t.equal(await response.text(), garbage)
    for (const kind of ['refusal', 'lost-answer'] as const) {
      fault(kind)
      await t.rejects(ask(), TypeError, kind)
    }
    fault('time-out')
    await t.rejects(ask(AbortSignal.timeout(200)), { name: 'TimeoutError' }, 'time-out')
    devnet.faults.clear()
    fault('delay')
    t.equal((await ask()).status, 200, 'delay')
  })
}

test('a submission whose answer is lost has been taken all the same', async (t) => {
  const { devnet, blockfrost } = await open(t)
  devnet.faults.inject({ kind: 'lost-answer', operation: 'submit' })
  const { cbor, hash } = payment()
  const headers = { 'content-type': 'application/cbor' }
  await t.rejects(fetch(`${blockfrost}/tx/submit`, { method: 'POST', headers, body: cbor }))
  t.equal(devnet.status(hash).status, 'pending')
})

test('faults at a WebSocket', async (t) => {
  const { devnet, ogmios } = await open(t)
  const connect = async () => {
    const socket = new WebSocket(ogmios.replace('http', 'ws'))
    await once(socket, 'open')
    return socket
  }
  let socket = await connect()
  const ask = async (): Promise<string> => {
    socket.send(query)
    const [message] = await once(socket, 'message')
    return String(message)
  }
  t.match(JSON.parse(await ask()), { id: 7, result: 'origin' })
  for (const kind of ['rate-limit', 'failure'] as const) {
    devnet.faults.inject({ kind })
    t.match(JSON.parse(await ask()), { id: 7, error: { code: Number } }, kind)
  }
  devnet.faults.inject({ kind: 'garbage' })
  t.equal(await ask(), garbage)
  devnet.faults.inject({ kind: 'delay', delayMs: 1 })
  t.match(JSON.parse(await ask()), { result: 'origin' })
  devnet.faults.inject({ kind: 'time-out' })
  socket.send(query)
  t.match(JSON.parse(await ask()), { result: 'origin' }, 'the one after the time-out')
  for (const kind of ['refusal', 'lost-answer'] as const) {
    devnet.faults.inject({ kind })
    const closed = once(socket, 'close')
    socket.send(query)
    await closed
    t.pass(kind)
    socket = await connect()
  }
  socket.close()

  devnet.faults.inject({ kind: 'failure', times: Infinity })
  socket = await connect()
  for (let i = 0; i < 3; i++) t.match(JSON.parse(await ask()), { error: { code: -32_603 } })
  socket.close()
})

test('what is no request of JSON-RPC', async (t) => {
  const { ogmios } = await open(t)
  const codes = [
    ['{', -32_700],
    ['[]', -32_600],
    ['{"jsonrpc":"1.0","method":"queryNetwork/tip"}', -32_600],
    ['{"jsonrpc":"2.0","method":"toString","id":"x"}', -32_601],
    ['{"jsonrpc":"2.0","method":"submitTransaction"}', -32_602],
    ['{"jsonrpc":"2.0","method":"queryLedgerState/utxo","params":{"addresses":["nobody"]}}', -32_602],
  ] as const
  const socket = new WebSocket(ogmios.replace('http', 'ws'))
  await once(socket, 'open')
  for (const [body, code] of codes) {
    const response = await fetch(ogmios, { method: 'POST', body })
    t.equal(response.status, 400)
    t.match(await response.json(), { jsonrpc: '2.0', error: { code } }, body)
    socket.send(body)
    const [message] = await once(socket, 'message')
    t.match(JSON.parse(String(message)), { error: { code } })
  }
  socket.close()
})
