import { once } from 'node:events'
import { connect } from 'node:net'
import { CborWriter } from '@ratatosk/cbor'
import { ask, until } from '@ratatosk/test-kit/http'
import { blockfrostSuite, ogmiosSuite, payment } from '@ratatosk/test-kit/ledger-apis'
import t from 'tap'
import { WebSocket } from 'ws'
import { serveLayer2 } from './test/served-layer2.js'

// Loads that once kept the event loop from every other client. The hook of all tests of tap judges the turns.
const layer2 = await serveLayer2()
t.teardown(() => layer2.close())
const ledger = await layer2.openLedger('accepted')(t)
const url = new URL(ledger.ogmios)
const blockfrost = ledger.blockfrost

const rpc = (method: string, id: number, params = {}) =>
  JSON.stringify({ jsonrpc: '2.0', method, params, id })

/** A connection to Ogmios, with what it has received. */
async function open() {
  const socket = new WebSocket(ledger.ogmios.replace('http', 'ws'))
  const received: { readonly id: number; readonly result?: { readonly block?: object } }[] = []
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  await once(socket, 'open')
  return { socket, received }
}

t.test('many requests at once on one WebSocket', async (t) => {
  const { socket, received } = await open()
  t.teardown(() => socket.terminate())
  const count = 1500
  for (let id = 0; id < count; id++) socket.send(rpc('queryNetwork/tip', id))
  await until(() => received.length === count, { timeoutMs: 30_000 })
  t.same(
    received.map(({ id }) => id),
    Array.from({ length: count }, (_, id) => id),
  )
})

t.test('many WebSockets that wait for the next block', async (t) => {
  const clients = await Promise.all(Array.from({ length: 300 }, open))
  t.teardown(() => {
    for (const { socket } of clients) socket.terminate()
  })
  for (const { socket } of clients) {
    socket.send(rpc('findIntersection', 0, { points: ['origin'] }))
    for (let id = 1; id < 4; id++) socket.send(rpc('nextBlock', id))
  }
  await ledger.submit(payment().cbor)
  await ledger.produceBlock()
  const hasBlock = ({ received }: (typeof clients)[number]) => received.some(({ result }) => result?.block)
  await until(() => clients.every(hasBlock), { timeoutMs: 30_000, what: 'all have the block' })
})

t.test('transactions far above the limit of size', async (t) => {
  const count = 20_000
  const body = (write: (writer: CborWriter) => CborWriter) =>
    Buffer.from(write(new CborWriter(4_000_000).array(4)).map(0).boolean(true).null().toBytes())
  const id = Buffer.alloc(32, 7)
  const numbered = (length: number, number: number) => {
    const bytes = Buffer.alloc(length)
    bytes.writeUInt32BE(number)
    return bytes
  }
  const inputs = (writer: CborWriter) => {
    writer.map(3).uint(0).array(count)
    for (let input = 0; input < count; input++) writer.array(2).bytes(numbered(32, input)).uint(0)
    return writer.uint(1).array(0).uint(2).uint(0)
  }
  const outputs = (writer: CborWriter) => {
    const address = Buffer.concat([Buffer.of(0x60), Buffer.alloc(28, 1)])
    writer.map(3).uint(0).array(1).array(2).bytes(id).uint(0).uint(1).array(count)
    for (let output = 0; output < count; output++) writer.array(2).bytes(address).uint(1)
    return writer.uint(2).uint(0)
  }
  const mint = (writer: CborWriter) => {
    writer.map(4).uint(0).array(1).array(2).bytes(id).uint(0).uint(1).array(0).uint(2).uint(0)
    writer.uint(9).map(1).bytes(Buffer.alloc(28)).map(count)
    for (let name = 0; name < count; name++) writer.bytes(numbered(6, name)).uint(1)
    return writer
  }
  const headers = { 'content-type': 'application/cbor' }
  for (const write of [inputs, outputs, mint]) {
    const sent = { method: 'POST', headers, body: body(write) }
    t.equal((await ask(`${blockfrost}/tx/submit`, sent)).status, 400, `${write.name}, submitted`)
    const evaluated = { ...sent, body: sent.body.subarray(0, 256 * 1024).toString('hex') }
    const answer = await ask(`${blockfrost}/utils/txs/evaluate`, evaluated)
    t.equal(JSON.parse(answer.body).type, 'jsonwsp/fault', `${write.name}, evaluated`)
  }
})

t.test('requests to upgrade, right and wrong, many on one connection', async (t) => {
  const webSocket = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13']
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  const first = async (line: string, headers: readonly string[]) => {
    const socket = connect(Number(url.port), url.hostname)
    socket.write(`${[`${line} HTTP/1.1`, `Host: ${url.host}`, ...headers].join('\r\n')}\r\n\r\n`)
    const [data] = await once(socket, 'data')
    socket.destroy()
    return String(data).slice(9, 12)
  }
  const kupo = 'GET /accepted/kupo/health'
  t.equal(await first('GET /accepted/ogmios', [...webSocket, key]), '101')
  t.equal(await first('GET /accepted/ogmios', [...webSocket, 'Sec-WebSocket-Key: short']), '400')
  t.equal(await first(kupo, [...webSocket, key]), '200', 'no WebSocket is served there')
  t.equal(await first('POST /accepted/ogmios', [...webSocket, key, 'Content-Length: 0']), '400')
  t.equal(await first(kupo, ['Upgrade: h2c', 'Connection: Upgrade']), '200')

  const socket = connect(Number(url.port), url.hostname)
  t.teardown(() => socket.destroy())
  let answers = 0
  const request = `${kupo} HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n`
  socket.on('data', (data) => {
    answers += String(data).split('HTTP/1.1 200').length - 1
    if (answers < 500) socket.write(request)
  })
  socket.write(request)
  await until(() => answers === 500)
})

t.test('blockfrost-js', async (t) => {
  blockfrostSuite((name, run) => t.test(name, run), layer2.openLedger('committed'))
})

t.test('the client of Ogmios', async (t) => {
  ogmiosSuite((name, run) => t.test(name, run), layer2.openLedger('committed'))
})
