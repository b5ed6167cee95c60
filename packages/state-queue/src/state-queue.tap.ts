import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { build } from './test/build.js'
import { block, outRef, root } from './test/views.js'

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
