import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import { listening, until } from '@ratatosk/test-kit/http'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { LedgerQueries } from './index.js'
import { build, enterprise } from './test/build.js'

const batchSize = 100
const batches = 1000
const path = `/block?header_hash=${'ab'.repeat(28)}`
const hash = (index: number) => Buffer.alloc(32, index % 251)
const whole = JSON.stringify({
  hashes: Array.from({ length: batchSize * batches }, (_, index) => hash(index).toString('hex')),
})

/** A block of 100,000 transactions (6.7 MB of JSON), read in batches; counts what is read. */
class LargeBlock {
  read = 0
  open = 0
  signals: AbortSignal[] = []
  failsAt = Number.POSITIVE_INFINITY
  size = batches

  async *blockTransactions(_headerHash: Uint8Array, signal: AbortSignal) {
    this.open++
    this.signals.push(signal)
    try {
      for (let batch = 0; batch < this.size; batch++) {
        if (batch === this.failsAt) throw new Error('the database is gone')
        this.read++
        yield Array.from({ length: batchSize }, (_, index) => hash(batch * batchSize + index))
        await new Promise(setImmediate)
      }
    } finally {
      this.open--
    }
  }
}

async function listen(
  t: Test,
  options: { maxLargeReads?: number; stallTimeoutMs?: number } = {},
  prepare: (server: FastifyInstance) => void = () => undefined,
) {
  const block = new LargeBlock()
  const ledger: LedgerQueries = {
    transaction: async () => Buffer.of(0x80),
    history: async () => [],
    utxosAt: async () => [],
    blockTransactions: (headerHash, signal) => block.blockTransactions(headerHash, signal),
  }
  const { server, log } = await build(t, { ledger, ...options }, prepare)
  return { block, log, ...(await listening(server)) }
}

/** Requests the block and reads nothing of the response. */
async function stalled(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.pause()
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  return socket
}

t.test('streams a large answer, complete and valid', async (t) => {
  const { block, get } = await listen(t)
  const answer = await get(path)
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(answer.headers['content-length'], undefined)
  t.ok(answer.body === whole, 'the body is the whole block')
  t.equal(block.read, batches)
  t.equal(block.open, 0)
})

t.test('streams what a ledger returns all at once like what it returns in batches', async (t) => {
  const rows = Array.from({ length: batchSize * batches }, (_, index) => hash(index))
  const { ledger, get } = await build(t)
  ledger.blocks.set('ab'.repeat(28), rows)
  t.ok((await get(path)).body === whole)
})

t.test('sends a small answer with its length', async (t) => {
  const { block, get } = await listen(t)
  block.size = 3
  const answer = await get(path)
  t.equal(answer.headers['content-length'], String(answer.body.length))
  t.equal(JSON.parse(answer.body).hashes.length, 300)
})

t.test('reads no further while the client accepts no data', async (t) => {
  const { block, port } = await listen(t)
  const socket = await stalled(t, port)
  let read = -1
  // Buffers of the sockets fill up first.
  await until(async () => {
    const before = read
    read = block.read
    return read > 0 && read === before
  })
  t.ok(block.read < batches, `${block.read} of ${batches} batches read`)
  let size = 0
  socket.on('data', (chunk) => {
    size += chunk.length
  })
  socket.resume()
  await until(() => size > whole.length)
  t.equal(block.read, batches)
})

t.test('stops the read when the client disconnects', async (t) => {
  const { block, port, log } = await listen(t)
  const socket = await stalled(t, port)
  await until(() => block.read > 50)
  socket.destroy()
  await until(() => block.open === 0)
  t.ok(block.read < batches)
  t.ok(block.signals[0]?.aborted, 'the signal aborts')
  t.notOk(log.records().some(({ level }) => level >= 50))
})

t.test('answers 503 with Retry-After when too many large answers are being sent', async (t) => {
  const { block, port, get } = await listen(t, { maxLargeReads: 2 })
  const sockets = [await stalled(t, port), await stalled(t, port)]
  await until(() => block.open === 2 && block.read > 100)
  const refused = await get(path)
  t.equal(refused.status, 503)
  t.equal(refused.body, '{"error":"Too many large reads in progress: retry later"}')
  t.equal(refused.headers['retry-after'], '1')
  t.equal(block.open, 2, 'the refused read is closed')
  t.equal((await get(`/tx?tx_hash=${'ab'.repeat(32)}`)).status, 200, 'small answers are sent')
  sockets[0]?.destroy()
  await until(() => block.open === 1)
  t.equal((await get(path)).status, 200, 'a place is free again')
})

t.test('disconnects a client that stalls, and frees its place', async (t) => {
  const { block, port, get } = await listen(t, { maxLargeReads: 1, stallTimeoutMs: 300 })
  await stalled(t, port)
  await until(() => block.open === 1)
  await until(() => block.open === 0, { timeoutMs: 10_000 })
  t.ok(block.read < batches)
  t.equal((await get(path)).status, 200)
})

t.test('does not disconnect a client that reads slowly', async (t) => {
  const { block, port } = await listen(t, { stallTimeoutMs: 1000 })
  const started = performance.now()
  const socket = await stalled(t, port)
  let size = 0
  socket.on('data', (chunk) => {
    size += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 25)
  })
  socket.resume()
  await until(() => size > whole.length)
  t.equal(block.read, batches)
  t.ok(performance.now() - started > 1000, 'it takes longer than the time limit')
})

t.test('answers 500 if the ledger fails at first, and cuts the connection if it fails later', async (t) => {
  const { block, get, log } = await listen(t)
  block.failsAt = 2
  const early = await get(path)
  t.equal(early.status, 500)
  t.equal(early.body, '{"error":"Something went wrong"}')
  block.failsAt = 500
  await t.rejects(get(path), { code: 'ECONNRESET' })
  t.equal(block.open, 0)
  const errors = log.records().filter(({ level }) => level >= 40)
  t.equal(errors.length, 2)
  for (const { err } of errors) t.match(err?.message, 'the database is gone')
})

t.test('frees the place of an answer that a hook of the server replaces', async (t) => {
  let failing = true
  const { block, get } = await listen(t, { maxLargeReads: 1 }, (server) => {
    server.addHook('onSend', async (_request, reply, payload) => {
      if (failing && reply.statusCode === 200) throw new Error('a hook failed')
      return payload
    })
  })
  for (let n = 0; n < 3; n++) t.equal((await get(path)).status, 500)
  await until(() => block.open === 0)
  failing = false
  t.equal((await get(path)).status, 200)
})

t.test('answers HEAD without reading on', async (t) => {
  const { block, head } = await listen(t, { maxLargeReads: 1 })
  for (let n = 0; n < 3; n++) {
    const answer = await head(path)
    t.equal(answer.status, 200)
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(answer.headers['content-length'], undefined)
  }
  t.equal(block.open, 0)
  t.ok(block.read < 100)
})

const never = () => new Promise<never>(() => undefined)

t.test('keeps the place of a client that left until its read ends, or its time is over', async (t) => {
  const { block, port, get } = await listen(t, { maxLargeReads: 1 })
  const { blockTransactions } = block
  let begun = 0
  block.blockTransactions = async function* () {
    for (; begun < 50; begun++) yield Array.from({ length: batchSize }, () => hash(0))
    await never()
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const socket = await stalled(t, port)
  while (begun < 50) await new Promise(setImmediate)
  block.blockTransactions = blockTransactions
  t.equal((await get(path)).status, 503)
  socket.destroy()
  await once(socket, 'close')
  t.equal((await get(path)).status, 503, 'others cannot take the place of a read that runs')
  mock.timers.tick(30_000)
  mock.timers.reset()
  await until(async () => (await get(path)).status === 200)
})

t.test('reads that never begin are answered 503, and others begin', async (t) => {
  let begun = 0
  const { server, ledger } = await build(t)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { utxosAt } = ledger
  ledger.utxosAt = () => {
    begun++
    return never()
  }
  const url = `/utxos?address=${enterprise}`
  const hung = Array.from({ length: 9 }, () => server.inject(url))
  while (begun < 8) await new Promise(setImmediate)
  ledger.utxosAt = utxosAt
  mock.timers.tick(30_000)
  const codes = (await Promise.all(hung)).map(({ statusCode }) => statusCode)
  t.same(codes, [...Array(8).fill(503), 200])
})
