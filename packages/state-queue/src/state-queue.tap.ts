import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import type { OperationResult } from '@ratatosk/ports'
import { ask, browserAttacks, golden } from '@ratatosk/test-kit/http'
import t from 'tap'
import type { RootUnits } from './index.js'
import { block, build, outRef, reads, root } from './test/build.js'

const type = 'application/json; charset=utf-8'
const hash = (byte: number) => Buffer.alloc(28, byte).toString('hex')

t.test('GET /stateQueue answers the header hashes, oldest first', async (t) => {
  const { chain, get } = await build(t)
  chain.view = { roots: [root(0x8f, 10)], blocks: [block(0xff, 3), block(0x00, 2), block(0xab, 1)] }
  const answer = await get('/stateQueue')
  t.equal(answer.status, 200)
  t.equal(answer.body, JSON.stringify({ headers: [hash(0xff), hash(0x00), hash(0xab)] }))
  t.equal(answer.headers['content-type'], type)
  for (const header of JSON.parse(answer.body).headers) t.match(header, /^[0-9a-f]{56}$/)
})

t.test('GET /stateQueue answers an empty list for an empty queue and for a missing one', async (t) => {
  const { chain, get } = await build(t)
  for (const roots of [[root(1)], [root(1, 10)], []]) {
    chain.view = { roots, blocks: [] }
    const answer = await get('/stateQueue')
    t.equal(answer.status, 200)
    t.equal(answer.body, '{"headers":[]}')
  }
})

t.test('GET /stateQueue ignores parameters', async (t) => {
  const { chain, get } = await build(t)
  chain.view = { roots: [root(1)], blocks: [block(2, 1)] }
  t.equal((await get('/stateQueue?limit=0&headers=none')).body, `{"headers":["${hash(2)}"]}`)
})

t.test('GET /stateQueue reads its port for each request', async (t) => {
  const { chain, get } = await build(t)
  chain.view = { roots: [root(1)], blocks: [block(2, 1)] }
  t.equal((await get('/stateQueue')).body, `{"headers":["${hash(2)}"]}`)
  chain.view = { roots: [root(2)], blocks: [block(3, 1)] }
  const answer = await get('/stateQueue')
  t.equal(answer.body, `{"headers":["${hash(3)}"]}`)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.same(chain.asked, ['queue', 'queue'])
})

t.test('GET /stateQueue logs the drawing as one record under the id of the request', async (t) => {
  const { chain, get, lines, log } = await build(t)
  chain.view = { roots: [root(0x8f)], blocks: [block(0x77, 500, 12n), block(0x91, 400, 13n)] }
  await get('/stateQueue')
  const [record, ...others] = log()
  t.same(others, [])
  t.match(record, { level: 30, reqId: 'req-1' })
  const drawn = record?.msg.split('\n') ?? []
  t.equal(drawn.length, 4)
  t.equal(drawn[0], 'State queue: 2 blocks, 2 mature')
  t.equal(drawn[1], '  confirmed  00000000…  genesis')
  t.match(drawn[2], /^ {2}├─ 12 {6}77777777… {2}\d+ d ago {2}mature$/)
  t.match(drawn[3], /^ {2}└─ 13 {6}91919191… {2}\d+ d ago {2}mature$/)
  t.equal(lines.filter((line) => line.includes('State queue')).length, 1)
})

t.test('GET /stateQueue logs a queue that has not changed at debug only', async (t) => {
  const { chain, get, log } = await build(t)
  const views = {
    one: { roots: [root(1)], blocks: [block(2, 1, 1n)] },
    two: { roots: [root(1)], blocks: [block(2, 1, 1n), block(3, 0)] },
    broken: { roots: [root(1)], blocks: [], fault: 'a link leads to a block that is not there' },
  }
  const logged: number[] = []
  for (const view of [views.one, views.one, views.two, views.two, views.one, views.broken, views.broken]) {
    const before = log().length
    chain.view = view
    t.equal((await get('/stateQueue')).status, 200)
    logged.push(
      ...log()
        .slice(before)
        .map(({ level }) => level),
    )
  }
  t.same(logged, [30, 20, 30, 20, 30, 40, 20])
  t.match(log()[1]?.msg, /^State queue: 1 block, /, 'the drawing')
})

t.test(
  'GET /stateQueue answers the headers of a broken queue, linked ones first, and logs its fault as a warning',
  async (t) => {
    const { chain, get, log } = await build(t)
    chain.view = {
      roots: [root(1)],
      blocks: [block(2, 1, 1n)],
      strays: [{ outRef: outRef(9), headerHash: new Uint8Array(28).fill(9) }, { outRef: outRef(10) }],
      fault: 'a link leads to a block that is not there',
    }
    const answer = await get('/stateQueue')
    t.equal(answer.status, 200)
    t.equal(answer.body, `{"headers":["${hash(2)}","${hash(9)}"]}`)
    const [record] = log()
    t.equal(record?.level, 40)
    t.match(record?.msg, 'a link leads to a block that is not there')
    t.match(record?.msg, '09090909…#0')
  },
)

t.test('GET /stateQueue does not warn before init', async (t) => {
  const { chain, get, log } = await build(t)
  chain.view = { roots: [], blocks: [], fault: '0 roots' }
  t.equal((await get('/stateQueue')).body, '{"headers":[]}')
  t.match(log(), [{ level: 30, msg: 'State queue: not initialised' }])
})

t.test('GET /stateQueue answers a thousand blocks', async (t) => {
  const { chain, get, log } = await build(t)
  const blocks = Array.from({ length: 1000 }, (_, place) => ({
    ...block(0, 1, BigInt(place)),
    headerHash: Buffer.alloc(28, String(place)),
  }))
  chain.view = { roots: [root(1)], blocks }
  const { headers } = JSON.parse((await get('/stateQueue')).body)
  t.same(
    headers,
    blocks.map(({ headerHash }) => headerHash.toString('hex')),
  )
  t.match(log()[0]?.msg, '… 984 more …')
})

t.test('aborts the call of a port when the client disconnects, without logging a failure', async (t) => {
  const calls = new EventEmitter()
  const read = (signal?: AbortSignal) => {
    calls.emit('call', signal)
    return new Promise<never>((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        reject(signal.reason)
        calls.emit('ended')
      })
    })
  }
  const { url, get, log } = await build(t, {
    queue: { read },
    rootUnits: { read },
    wallet: { lovelace: read },
  })
  for (const path of ['/stateQueue', '/stateQueue/root-unit-diagnostics', '/commitment-wallet/balance']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    const [signal] = await once(calls, 'call')
    t.equal(signal.aborted, false, 'not while the client waits')
    const ended = once(calls, 'ended')
    socket.destroy()
    await ended
  }
  t.equal((await get('/nothing')).status, 404, 'the server still answers')
  t.same(
    log().filter(({ level }) => level > 20),
    [],
  )
})

interface Case {
  readonly request: string
  /** The answer of the port: one of the three. */
  readonly result?: OperationResult
  readonly units?: RootUnits
  readonly balance?: string
  readonly status: number
  readonly body: object
}

t.test('answers every result of a port as in the golden file', async (t) => {
  const { chain, get } = await build(t)
  for (const { request, status, body, ...port } of golden<Case[]>(import.meta.url, 'test/golden.json')) {
    if (port.result) chain.result = port.result
    if (port.units) chain.units = port.units
    if (port.balance) chain.balance = BigInt(port.balance)
    const answer = await get(request.replace('GET ', ''))
    const name = `${request}: ${JSON.stringify(port)}`
    t.equal(answer.status, status, name)
    t.equal(answer.body, JSON.stringify(body), name)
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

const path = '/stateQueue/repair-root-units'
const done = '{"message":"State-queue root-unit repair completed successfully!"}'

t.test('runs one repair per request', async (t) => {
  const { chain, get } = await build(t)
  t.equal((await get(path)).body, done)
  t.same(chain.asked, ['repair'])
})

t.test('logs the result of another operation as a defect', async (t) => {
  const { chain, get, log } = await build(t)
  chain.result = { kind: 'nothing-to-merge' }
  t.equal((await get(path)).status, 500)
  t.match(log().at(-1), {
    level: 50,
    err: { message: 'Operation repair ended with the result of another operation: nothing-to-merge' },
  })
})

t.test('answers HEAD and other methods on the repair like an unknown path, byte for byte', async (t) => {
  const { chain, url, head } = await build(t)
  const unknown = await head('/nothing')
  t.equal(unknown.status, 404)
  t.same(await head(path), unknown)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const answer = await ask(url + path, { method })
    t.same(answer, await ask(`${url}/nothing`, { method }), method)
    t.equal(answer.body, '{"error":"Not Found","code":"DISABLED"}')
  }
  t.same(chain.asked, [], 'nothing is burned')
})

t.test('keeps hostile web pages from the repair, with and without a token', async (t) => {
  for (const options of [{}, { operatorToken: 'secret' }, { allowedHosts: ['node.example'] }]) {
    const { chain, url, port } = await build(t, options)
    for (const { name, path: at = (route: string) => route, headers, ...question } of browserAttacks(port)) {
      const answer = await ask(url + at(path), {
        ...question,
        headers: { ...headers, authorization: 'Bearer secret' },
      })
      t.equal(answer.status, question.method ? 404 : 403, name)
    }
    t.same(chain.asked, [], 'nothing is burned')
  }
})

t.test('serves the repair to an own page, the address bar and allowed hosts', async (t) => {
  const { get, port } = await build(t, { allowedHosts: ['node.example'] })
  for (const headers of [
    { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` },
    { 'sec-fetch-site': 'none', 'user-agent': 'Mozilla/5.0' },
    { host: 'node.example', origin: 'https://node.example' },
  ] as Record<string, string>[]) {
    t.equal((await get(path, headers)).status, 200, JSON.stringify(headers))
  }
})

t.test('serves the reads to any page and under any host name', async (t) => {
  const { get } = await build(t)
  for (const read of reads) {
    t.equal((await get(read, { 'sec-fetch-site': 'cross-site', host: 'any.example' })).status, 200, read)
  }
})

t.test('asks for the token on the repair and not on the reads', async (t) => {
  const { chain, get } = await build(t, { operatorToken: 'secret' })
  for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Bearer secret2', 'Basic secret', 'secret']) {
    const answer = await get(path, authorization ? { authorization } : {})
    t.equal(answer.status, 401, authorization)
    t.equal(answer.body, '{"error":"Unauthorized"}')
    t.equal(answer.headers['www-authenticate'], 'Bearer')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  t.same(chain.asked, [])
  t.equal((await get(path, { authorization: 'Bearer secret' })).body, done)
  for (const read of reads) t.equal((await get(read)).status, 200, read)
})

t.test('is unauthenticated without a token', async (t) => {
  const { get } = await build(t)
  t.equal((await get(path, { authorization: 'Bearer whatever' })).status, 200)
})
