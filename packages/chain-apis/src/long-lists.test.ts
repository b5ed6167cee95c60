import { setImmediate } from 'node:timers/promises'
import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import { listening } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { blockfrostApi } from './blockfrost/blockfrost-api.js'
import { kupoApi } from './kupo/kupo-api.js'
import { LongLists } from './long-lists.js'
import { ogmiosApi } from './ogmios/ogmios-api.js'
import { chainWith } from './test/served-chain.js'
import { registerWebSockets } from './websockets.js'

/** Pages without an end, unless a number is given. */
async function* pages(count = Number.POSITIVE_INFINITY) {
  for (let page = 0; page < count; page++) yield []
}

const items = () => ['item']

/** A client that stays, unless the signal says otherwise. */
const client = (signal = new AbortController().signal) => ({ signal, disconnect() {} })

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

test('64 lists of several pages are open, and further short ones are read', async () => {
  const lists = new LongLists()
  const open = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const left = new AbortController()
      return { left, parts: await lists.read(pages(3), items, client(left.signal)) }
    }),
  )
  await expect(lists.read(pages(2), items, client())).rejects.toMatchObject({ statusCode: 503 })
  expect(await textOf(await lists.read(pages(1), items, client()))).toBe('["item"]')
  expect(await textOf(await lists.read(pages(0), items, client()))).toBe('[]')

  // A list leaves the limit when it is read to its end, or when its client leaves, read or not.
  const [first, second, third] = open
  expect(await textOf(first!.parts)).toBe('["item","item","item"]')
  for await (const _ of second!.parts) break
  third!.left.abort()
  await setImmediate()
  const readers = () => [0, 1, 2].map(() => lists.read(pages(), items, client()))
  await Promise.all(readers())
  await expect(Promise.any(readers())).rejects.toMatchObject({ errors: [{}, {}, {}] })
})

test('the client that has taken no page for the longest time makes room for another list', async () => {
  const lists = new LongLists(60_000, 0)
  const gone: number[] = []
  const open = async (number: number) => {
    const signal = new AbortController().signal
    return lists.read(pages(9), items, { signal, disconnect: () => gone.push(number) })
  }
  const all: AsyncIterable<string>[] = []
  for (let number = 0; number < 64; number++) all.push(await open(number))
  // The first client takes a page.
  await all[0]![Symbol.asyncIterator]().next()
  await all[0]![Symbol.asyncIterator]().next()
  await open(64)
  await open(65)
  expect(gone).toEqual([1, 2])
  await expect(new LongLists().read(pages(2), items, client())).resolves.toBeDefined()
})

test('a list that has begun too late is not read', async () => {
  const lists = new LongLists()
  let read = 0
  async function* counted() {
    read++
    yield []
  }
  const late = lists.read(counted(), items, client(AbortSignal.abort()))
  await expect(late).rejects.toMatchObject({ name: 'ChainUnavailableError' })
  expect(read).toBe(0)
})

test('that a client leaves before the first part is no unexpected error', async () => {
  const left = new AbortController()
  const leave = () => {
    left.abort()
    return []
  }
  const reading = new LongLists().read(pages(), leave, client(left.signal))
  await expect(reading).rejects.toMatchObject({ name: 'ChainUnavailableError' })
})

/** Kupo and Ogmios with outputs without an end. */
async function serveEndless(timeLimitMs: number) {
  const state = { isRead: false }
  const transactionHash = '00'.repeat(32)
  const output = decodeTransactionOutput(
    new CborWriter()
      .array(2)
      .bytes(new Uint8Array(29).fill(0x60, 0, 1))
      .uint(1n)
      .toBytes(),
  )
  const created = { block: { height: 0, slot: 0n, hash: transactionHash }, position: 0 }
  const found = { key: `${transactionHash}#0`, transactionHash, index: 0, output, created }
  const page = Array.from({ length: 100 }, () => ({ ...found, collateralReturn: false }))
  const chain = chainWith({
    async *outputPages() {
      state.isRead = true
      try {
        for (;;) yield page
      } finally {
        state.isRead = false
      }
    },
  })
  const api = { chain, lists: new LongLists(timeLimitMs) }
  const limits = { maxWebSockets: 1, stallTimeoutMs: 30_000 }
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(() => server.close())
  await server.register(kupoApi, { ...api, prefix: '/kupo' })
  await registerWebSockets(server, limits.stallTimeoutMs)
  await server.register(ogmiosApi, { ...api, ...limits, version: '6', strictRpc: false, prefix: '/ogmios' })
  return { state, url: (await listening(server)).url }
}

const utxoRequest = JSON.stringify({ jsonrpc: '2.0', method: 'queryLedgerState/utxo' })

test.each([
  ['/kupo/matches', {}],
  ['/ogmios', { method: 'POST', body: utxoRequest }],
])('a list that is open for too long is broken off: %s', async (path, init) => {
  const { state, url } = await serveEndless(500)
  const answer = await fetch(url + path, init)
  // The client reads nothing.
  await expect.poll(() => state.isRead).toBe(false)
  await expect(answer.text()).rejects.toThrow('terminated')
})

test('a list that is open for too long closes its WebSocket', async () => {
  const { state, url } = await serveEndless(100)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ogmios`)
  socket.once('open', () => socket.send(utxoRequest))
  const closed = new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject))
  expect(await closed).toBe(1006)
  await expect.poll(() => state.isRead).toBe(false)
})

function latch() {
  let open = () => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

const pageLength = 64

/** Blockfrost with four pages of transactions, in a block and in the mempool. */
async function serveFourPages(onPage: () => Promise<void>) {
  const lists = new LongLists()
  const hash = '11'.repeat(32)
  const transaction = decodeTransaction(fromHex('84a3008001800200a0f5f6'))
  const all = Array.from({ length: 4 * pageLength - 1 }, (_, n) => ({
    hash: String(n).padStart(64, '0'),
    transaction,
    bytes: transaction.bytes.length,
  }))
  const block = {
    height: 1,
    hash,
    previous: '00'.repeat(32),
    slot: 1n,
    time: 1000n,
    size: 1,
    transactionCount: all.length,
  }
  const chain = chainWith({
    block: () => block,
    mempool: () => all,
    async blockTransactions(_, { offset = 0, limit = 0 }) {
      await onPage()
      return all.slice(offset, offset + limit)
    },
    async transactions() {
      await onPage()
      return new Map()
    },
  })
  const server = fastify({ forceCloseConnections: true })
  onTestFinished(() => server.close())
  await server.register(blockfrostApi, { chain, lists, maxOutputs: 10_000, postStatus: 200 })
  return { server, lists }
}

const someone = 'addr_test1vqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqd9tg5t'
const wholeLists = ['/blocks/1/addresses', `/mempool/addresses/${someone}`]

test.each(wholeLists)('an answer of many pages takes its turn: %s', async (path) => {
  const { server, lists } = await serveFourPages(async () => undefined)
  expect((await server.inject(path)).statusCode).toBe(200)
  const held = latch()
  let reading = 0
  async function* slow() {
    reading++
    await held.promise
    yield []
  }
  const begin = (length: number) => Array.from({ length }, () => lists.read(slow(), items, client()))
  const begun = begin(8)
  await expect.poll(() => reading).toBe(8)
  begun.push(...begin(256))
  expect((await server.inject(path)).statusCode).toBe(503)
  held.open()
  for (const parts of begun) await textOf(await parts)
  expect((await server.inject(path)).statusCode).toBe(200)

  // Those of several pages are as many as the other lists of several pages.
  for (let n = 0; n < 64; n++) await lists.read(pages(3), items, client())
  expect((await server.inject(path)).statusCode).toBe(503)
})

test.each(wholeLists)('what is read for a client that has left ends with its page: %s', async (path) => {
  const begun = latch()
  const left = latch()
  let read = 0
  const { server } = await serveFourPages(() => {
    read++
    begun.open()
    return left.promise
  })
  const failures: string[] = []
  server.addHook('onRequest', async (_, reply) => void reply.raw.once('close', left.open))
  server.addHook('onError', async (_request, _reply, error) => void failures.push(error.name))
  const { url } = await listening(server)
  const leaving = new AbortController()
  const answer = fetch(url + path, { signal: leaving.signal })
  await begun.promise
  leaving.abort()
  await expect(answer).rejects.toThrow()
  await expect.poll(() => failures).toEqual(['ChainUnavailableError'])
  expect(read).toBe(1)
})

test('a failure ends a list, also of several pages', async () => {
  const lists = new LongLists()
  for (let list = 0; list < 65; list++) {
    async function* failing() {
      yield* pages(3)
      throw new Error('lost')
    }
    const parts = await lists.read(failing(), items, client())
    await expect(textOf(parts)).rejects.toThrow('lost')
  }
})

test('pages wait for others, and new lists are refused while 256 wait', async () => {
  const lists = new LongLists()
  let reading = 0
  let proceed = () => {}
  const proceeds = new Promise<void>((resolve) => {
    proceed = resolve
  })
  async function* slow() {
    reading++
    await proceeds
    yield []
  }
  const begin = (length: number) => Array.from({ length }, () => lists.read(slow(), items, client()))
  const begun = begin(8)
  await expect.poll(() => reading).toBe(8)
  begun.push(...begin(256))
  await expect(lists.read(slow(), items, client())).rejects.toMatchObject({ statusCode: 503 })
  expect(reading).toBe(8)
  proceed()
  const texts = await Promise.all(begun.map(async (parts) => textOf(await parts)))
  expect(new Set(texts)).toEqual(new Set(['["item"]']))
})
