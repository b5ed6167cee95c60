import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import swagger from '@fastify/swagger'
import { golden } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import txQuery, { type LedgerQueries, txQuery as named, type TxQueryOptions } from './index.js'
import { addressBytes, build, encode, MemoryLedger } from './test/build.js'

interface Operation {
  parameters: { name: string; required?: boolean }[]
  responses: Record<string, unknown>
}

const address = encode('addr_test', addressBytes(6, 0, Buffer.alloc(28, 7)))
const urls = [
  `/tx?tx_hash=${'ab'.repeat(32)}`,
  `/txs?address=${address}`,
  `/utxos?address=${address}`,
  `/block?header_hash=${'ab'.repeat(28)}`,
]

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(txQuery, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/tx-query'))
})

t.test('answers 500 if the ledger fails, and logs the cause under the id of the request', async (t) => {
  const fail = async () => {
    throw Object.assign(new Error('relation "mempool" does not exist at db.internal'), {
      statusCode: 404,
      code: '42P01',
    })
  }
  const ledger: LedgerQueries = { transaction: fail, history: fail, utxosAt: fail, blockTransactions: fail }
  const { get, log } = await build(t, { ledger })
  for (const url of urls) {
    log.lines.length = 0
    const { status, body } = await get(url)
    t.equal(status, 500, url)
    t.equal(body, '{"error":"Something went wrong"}', url)
    const errors = log.records().filter(({ level }) => level === 50)
    t.equal(errors.length, 1)
    t.match(errors[0], { reqId: /^req-/, err: { message: /relation "mempool" does not exist/ } })
  }
})

t.test('answers 500 if the ledger returns something else, and the log names the method', async (t) => {
  const bytes = new Uint8Array(32)
  const rows: unknown[] = [
    ...[undefined, null, 'ab', {}, ['84a0'], [undefined]],
    [{ reference: { transactionId: 'ab', index: 0 }, output: bytes }],
    [{ reference: { transactionId: bytes }, output: bytes }],
    [{ reference: { transactionId: bytes, index: -1 }, output: bytes }],
    [{ reference: { transactionId: bytes.subarray(3), index: 0 }, output: bytes }],
    [{ reference: { transactionId: bytes, index: 0 }, output: 'ab' }],
  ]
  for (const list of rows.flatMap((result) => [async () => result as never, () => result as never])) {
    const transaction = async () => '84a0' as never
    const ledger = { transaction, history: list, utxosAt: list, blockTransactions: list }
    const { get, log } = await build(t, { ledger })
    for (const [index, method] of ['transaction', 'history', 'utxosAt', 'blockTransactions'].entries()) {
      log.lines.length = 0
      const { status, body } = await get(urls[index] ?? '')
      t.equal(status, 500, `${method} ${list}`)
      t.equal(body, '{"error":"Something went wrong"}')
      const [error] = log.records().filter(({ level }) => level === 50)
      t.match(
        error?.err?.message,
        new RegExp(`^ledger\\.${method}\\(\\) must resolve to (?:a|arrays of) \\w+`),
      )
    }
  }
})

t.test('answers 500 for ids of another length, and for more transactions than the limit', async (t) => {
  const ids = async () => [new Uint8Array(3)]
  for (const [url, ledger, message] of [
    [
      urls[3],
      { blockTransactions: ids },
      /^ledger\.blockTransactions\(\) must resolve to arrays of Uint8Array: 0: Expected .* 32$/,
    ],
    [`${urls[1]}&limit=2`, { history: async () => Array(3).fill(Uint8Array.of(0x80)) }, historyLimit],
    [`${urls[1]}&limit=2`, { history: batches }, historyLimit],
  ] as const) {
    const { get, log } = await build(t, { ledger: Object.assign(new MemoryLedger(), ledger) })
    t.same(await get(url ?? ''), { ...json, status: 500, body: '{"error":"Something went wrong"}' })
    t.match(log.records().at(-1), { level: 50, err: { message } })
  }
})

const json = { type: 'application/json; charset=utf-8' }
const historyLimit = 'ledger.history() must resolve to at most 2 entries'
async function* batches() {
  for (let count = 0; count < 3; count++) yield [Uint8Array.of(0x80)]
}

t.test('refuses parameters that a route does not have, after those that it has', async (t) => {
  const { get } = await build(t)
  for (const [index, names] of ['tx_hash', 'address, limit, offset', 'address', 'header_hash'].entries()) {
    const url = urls[index] ?? ''
    const error = `Invalid parameter: limt. Send only ${names}`
    t.same(await get(`${url}&limt=3`), { ...json, status: 400, body: JSON.stringify({ error }) })
    const [path] = url.split('?')
    t.match(
      (await get(`${path}?limt=3`)).body,
      /^\{"error":"Invalid (address type|block hash|transaction hash): undefined"/,
    )
  }
})

t.test('serves HEAD like GET', async (t) => {
  const { server, ledger } = await build(t)
  ledger.transactions.set('ab'.repeat(32), Buffer.of(0x80))
  for (const url of [...urls, '/tx', '/txs', '/utxos', '/block', `/tx?tx_hash=${'00'.repeat(32)}`]) {
    const [get, head] = await Promise.all([
      server.inject({ method: 'GET', url }),
      server.inject({ method: 'HEAD', url }),
    ])
    t.equal(head.statusCode, get.statusCode, url)
    t.equal(head.body, '')
    t.equal(head.headers['content-length'], get.headers['content-length'])
    t.equal(head.headers['content-type'], get.headers['content-type'])
  }
})

t.test('serves two ledgers in one server, each under its prefix', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const [first, second] = [new MemoryLedger(), new MemoryLedger()]
  first.transactions.set('ab'.repeat(32), Buffer.of(0x80))
  await server.register(txQuery, { prefix: '/first', ledger: first, network: 'testnet' })
  await server.register(txQuery, { prefix: '/second', ledger: second, network: 'mainnet' })
  const url = `/tx?tx_hash=${'ab'.repeat(32)}`
  t.equal((await server.inject(`/first${url}`)).body, '{"tx":"80"}')
  t.equal((await server.inject(`/second${url}`)).statusCode, 404)
  t.equal((await server.inject(url)).statusCode, 404)
  t.equal((await server.inject(`/first/utxos?address=${address}`)).statusCode, 200)
  t.equal((await server.inject(`/second/utxos?address=${address}`)).statusCode, 400)
})

t.test('leaves the error handler and the validation of the server unchanged', async (t) => {
  const { server } = await build(t)
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  const querystring = { type: 'object', properties: { n: { type: 'integer' } } }
  server.get('/own', { schema: { querystring } }, async (request) => request.query)
  t.same((await server.inject('/own?n=5')).json(), { n: 5 })
  t.equal((await server.inject('/own?n=x')).statusCode, 418)
})

t.test('throws at startup for options that cannot work', async (t) => {
  const wrong: [unknown, RegExp][] = [
    [
      { network: 'testnet' },
      /ledger must be an object with the methods transaction, history, utxosAt, blockTransactions/,
    ],
    [{ ledger: new MemoryLedger(), network: 'preprod' }, /network must be mainnet or testnet/],
    [
      { ledger: new MemoryLedger(), network: 'testnet', maxLargeReads: 0 },
      /maxLargeReads must be a whole number from 1/,
    ],
    [
      { ledger: new MemoryLedger(), network: 'testnet', stallTimeoutMs: 0.5 },
      /stallTimeoutMs must be a whole number from 1/,
    ],
    [{ ledger: new MemoryLedger() }, /network must be mainnet or testnet/],
  ]
  for (const [options, message] of wrong) {
    const server = fastify()
    await t.rejects(async () => server.register(txQuery, options as TxQueryOptions), { message })
    await server.close()
  }
})

t.test('documents every route, parameter and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(txQuery, { ledger: new MemoryLedger(), network: 'testnet' })
  await server.ready()
  const paths = server.swagger().paths as Record<string, { get: Operation }>
  const shapes = Object.entries(paths).map(([path, { get }]) => [
    path,
    get.parameters.map(({ name, required }) => (required ? name : `${name}?`)),
    Object.keys(get.responses),
  ])
  const list = ['200', '400', '408', '429', '431', '500', '503']
  t.same(shapes, [
    ['/tx', ['tx_hash'], ['200', '400', '404', '408', '429', '431', '500', '503']],
    ['/txs', ['address', 'limit?', 'offset?'], list],
    ['/utxos', ['address'], list],
    ['/block', ['header_hash'], list],
  ])
})

interface Golden {
  readonly ledger: {
    readonly transactions: Readonly<Record<string, string>>
    readonly histories: Readonly<Record<string, readonly string[]>>
    readonly utxos: Readonly<
      Record<string, readonly { transactionId: string; index: number; output: string }[]>
    >
    readonly blocks: Readonly<Record<string, readonly string[]>>
  }
  readonly cases: readonly { readonly request: string; readonly status: number; readonly body: object }[]
}

const bytes = (hex: string) => Buffer.from(hex, 'hex')

t.test('answers as in the golden file', async (t) => {
  const { ledger: given, cases } = golden<Golden>(import.meta.url, 'test/golden.json')
  const { ledger, get } = await build(t)
  for (const [id, cbor] of Object.entries(given.transactions)) ledger.transactions.set(id, bytes(cbor))
  for (const [address, cbor] of Object.entries(given.histories))
    ledger.histories.set(address, cbor.map(bytes))
  for (const [hash, ids] of Object.entries(given.blocks)) ledger.blocks.set(hash, ids.map(bytes))
  for (const [address, utxos] of Object.entries(given.utxos)) {
    ledger.utxos.set(
      address,
      utxos.map(({ transactionId, index, output }) => ({
        reference: { transactionId: bytes(transactionId), index },
        output: bytes(output),
      })),
    )
  }
  for (const { request, status, body } of cases) {
    ledger.asked.length = 0
    t.same(
      await get(request.replace('GET ', '')),
      { status, body: JSON.stringify(body), type: 'application/json; charset=utf-8' },
      request,
    )
    t.equal(ledger.asked.length, status === 400 ? 0 : 1, 'an invalid request does not reach the ledger')
  }
})

t.test('GET /utxos encodes bytes that are a view of a larger buffer', async (t) => {
  const { ledger, get } = await build(t)
  const page = Buffer.alloc(100, 0xee)
  page.fill(0x11, 10, 42)
  ledger.utxos.set(`60${'11'.repeat(28)}`, [
    {
      reference: { transactionId: page.subarray(10, 42), index: 1 },
      output: new Uint8Array(page.buffer, page.byteOffset + 10, 2),
    },
  ])
  const { body } = await get('/utxos?address=addr_test1vqg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygxrcya6')
  t.equal(body, JSON.stringify({ utxos: [{ outref: `825820${'11'.repeat(32)}01`, value: '1111' }] }))
})

/** One connection to a listening server, on which requests are written as they are. */
async function open(t: Test) {
  const { server, ledger } = await build(t)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  socket.setEncoding('utf8')
  t.teardown(() => socket.destroy())
  const chunk = async () => (await once(socket, 'data'))[0]
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('the server hung up')))
  closed.catch(() => undefined)
  const ask = async (line: string, last: string) => {
    socket.write(`${line} HTTP/1.1\r\nhost: a\r\n\r\n`, 'latin1')
    let answer = ''
    while (!answer.endsWith(last)) answer += await Promise.race([chunk(), closed])
    return answer
  }
  return { ledger, ask }
}

t.test('keeps the connection open after refusals', async (t) => {
  const { ledger, ask } = await open(t)
  const id = 'ab'.repeat(32)
  ledger.transactions.set(id, Buffer.of(0x80))
  t.match(await ask('GET /tx', '}'), /^HTTP\/1\.1 400 Bad Request\r\n/)
  t.match(await ask(`GET /tx?tx_hash=${'00'.repeat(32)}`, '}'), /^HTTP\/1\.1 404 Not Found\r\n/)
  const head = await ask(`HEAD /tx?tx_hash=${id}`, '\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(head, /\r\ncontent-length: 11\r\n/)
  t.match(await ask(`GET /tx?tx_hash=${id}`, '}'), /\r\n\r\n\{"tx":"80"\}$/)
})

t.test('shows bytes that are not text as sent, and does not read them as digits', async (t) => {
  const { ask } = await open(t)
  t.match(await ask('GET /tx?tx_hash=%FF%B0', '}'), '{"error":"Invalid transaction hash: %FF%B0"}')
  t.match(await ask('GET /tx?tx_hash=%00', '}'), '{"error":"Invalid transaction hash: \\u0000"}')
})
