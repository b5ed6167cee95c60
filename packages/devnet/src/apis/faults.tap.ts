import { once } from 'node:events'
import { garbage } from '@ratatosk/chain-apis'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { aliceGenesis, payment } from '@ratatosk/test-kit/ledger-apis'
import { type Test, test } from 'tap'
import { WebSocket } from 'ws'
import type { FaultKind } from '../faults.js'
import { serveDevnet } from '../test/scenes.js'

// One fault is an answer that is no JSON.
ignoreAnswers('/blockfrost/api/v0/blocks/latest')

/** How long a test waits for a message, in milliseconds. */
const patience = 20_000

const query = JSON.stringify({ jsonrpc: '2.0', method: 'queryNetwork/tip', id: 7 })

async function open(t: Test) {
  const served = await serveDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  t.teardown(() => served.close())
  const requests: Readonly<Record<string, (signal?: AbortSignal) => Promise<Response>>> = {
    blockfrost: (signal) => fetch(`${served.blockfrost}/blocks/latest`, { signal: signal ?? null }),
    kupo: (signal) => fetch(`${served.kupo}/health`, { signal: signal ?? null }),
    ogmios: (signal) => fetch(served.ogmios, { method: 'POST', body: query, signal: signal ?? null }),
  }
  return { ...served, requests }
}

for (const target of ['blockfrost', 'kupo', 'ogmios'] as const) {
  test(`${target} faults`, async (t) => {
    const { devnet, requests } = await open(t)
    const request = requests[target]!
    const inject = (kind: FaultKind) => devnet.faults.inject({ kind, target, delayMs: 1 })

    t.equal((await request()).status, 200)
    for (const [kind, status] of [
      ['rate-limit', 429],
      ['failure', 500],
    ] as const) {
      inject(kind)
      const response = await request()
      t.equal(response.status, status, kind)
      t.type(await response.json(), 'object')
    }
    inject('garbage')
    const response = await request()
    t.equal(response.status, 200, 'garbage')
    t.equal(await response.text(), garbage)
    for (const kind of ['refusal', 'lost-answer'] as const) {
      inject(kind)
      await t.rejects(request(), TypeError, kind)
    }
    inject('time-out')
    await t.rejects(request(AbortSignal.timeout(200)), { name: 'TimeoutError' }, 'time-out')
    devnet.faults.clear()
    inject('delay')
    t.equal((await request()).status, 200, 'delay')
  })
}

test('a submission takes effect although its response is lost', async (t) => {
  const { devnet, blockfrost } = await open(t)
  devnet.faults.inject({ kind: 'lost-answer', operation: 'submit' })
  const { cbor, hash } = payment()
  const headers = { 'content-type': 'application/cbor' }
  await t.rejects(fetch(`${blockfrost}/tx/submit`, { method: 'POST', headers, body: cbor }))
  t.equal(devnet.status(hash).status, 'pending')
})

test('WebSocket faults', async (t) => {
  const { devnet, ogmios } = await open(t)
  let socket = await connect(ogmios)
  const request = () => exchange(socket, query)
  t.match(JSON.parse(await request()), { id: 7, result: 'origin' })
  for (const kind of ['rate-limit', 'failure'] as const) {
    devnet.faults.inject({ kind })
    t.match(JSON.parse(await request()), { id: 7, error: { code: Number } }, kind)
  }
  devnet.faults.inject({ kind: 'garbage' })
  t.equal(await request(), garbage)
  devnet.faults.inject({ kind: 'delay', delayMs: 1 })
  t.match(JSON.parse(await request()), { result: 'origin' })
  devnet.faults.inject({ kind: 'time-out' })
  socket.send(JSON.stringify({ ...JSON.parse(query), id: 'unanswered' }))
  t.match(JSON.parse(await request()), { id: 7, result: 'origin' }, 'only the next request has a response')
  for (const kind of ['refusal', 'lost-answer'] as const) {
    devnet.faults.inject({ kind })
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(patience) })
    socket.send(query)
    await t.resolves(closed, kind)
    socket = await connect(ogmios)
  }
  socket.close()

  devnet.faults.inject({ kind: 'failure', times: Number.POSITIVE_INFINITY })
  socket = await connect(ogmios)
  for (let i = 0; i < 3; i++) t.match(JSON.parse(await request()), { error: { code: -32_603 } })
  socket.close()
})

test('invalid JSON-RPC requests', async (t) => {
  const { ogmios } = await open(t)
  const codes = [
    ['{', -32_700],
    ['[]', -32_600],
    ['{"jsonrpc":"1.0","method":"queryNetwork/tip"}', -32_600],
    ['{"jsonrpc":"2.0","method":"toString","id":"x"}', -32_601],
    ['{"jsonrpc":"2.0","method":"submitTransaction"}', -32_602],
    ['{"jsonrpc":"2.0","method":"queryLedgerState/utxo","params":{"addresses":["nobody"]}}', -32_602],
  ] as const
  const socket = await connect(ogmios)
  for (const [body, code] of codes) {
    const response = await fetch(ogmios, { method: 'POST', body })
    t.equal(response.status, 400)
    t.match(await response.json(), { jsonrpc: '2.0', error: { code } }, body)
    t.match(JSON.parse(await exchange(socket, body)), { error: { code } })
  }
  socket.close()
})

async function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'))
  await once(socket, 'open', { signal: AbortSignal.timeout(patience) })
  return socket
}

/** Sends a message and waits for the next one. */
async function exchange(socket: WebSocket, message: string): Promise<string> {
  const received = once(socket, 'message', { signal: AbortSignal.timeout(patience) })
  socket.send(message)
  const [response] = await received
  return String(response)
}
