import { httpErrorOptions } from '@ratatosk/http'
import { signed } from '@ratatosk/test-kit'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import pages from './console/index.js'
import explorer, { type ExplorerOptions, explorer as named } from './index.js'
import { keyOf, options, timedBlock } from './test/ports.js'

async function build(t: Test, changes: Partial<ExplorerOptions> = {}) {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(explorer, { ...options, ...changes })
  return server
}

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(explorer, named)
  t.ok((await build(t)).hasPlugin('@ratatosk/explorer'))
})

t.test('the files of the console are in no OpenAPI document', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const hidden: unknown[] = []
  server.addHook('onRoute', ({ schema }) => void hidden.push((schema as { hide?: boolean })?.hide))
  await server.register(pages)
  await server.ready()
  t.ok(hidden.length > 3)
  t.ok(hidden.every((each) => each === true))
})

t.test('refuses options that cannot work', async (t) => {
  const wrong = [{ reads: {} }, { ledger: {} }, { queue: {} }, { index: {} }, { layer1: {} }, { node: {} }]
  const functions = ['sequencer', 'runScripts', 'knowsSubmission', 'clock'].map((name) => ({ [name]: {} }))
  for (const changes of [...wrong, ...functions, { trust: 1 }, { maturityWindowMs: -1 }])
    await t.rejects(
      async () => fastify().register(explorer, { ...options, ...changes } as ExplorerOptions),
      TypeError,
    )
})

t.test('says of which kind each option must be', async (t) => {
  for (const [changes, rule] of [
    [{ node: {} }, 'node must be an object with the texts version, role, network'],
    [{ trust: {} }, 'trust must be an array'],
    [{ sequencer: {} }, 'sequencer must be a function'],
    [{ runScripts: 1 }, 'runScripts must be a function'],
  ] as const)
    await t.rejects(
      async () => fastify().register(explorer, { ...options, ...changes } as unknown as ExplorerOptions),
      new TypeError(`@ratatosk/explorer: ${rule}`),
    )
})

t.test('a sequencer that resolves to something else is a 500, and the log says why', async (t) => {
  const lines: string[] = []
  const server = fastify({ logger: { stream: { write: (line) => void lines.push(line) } } })
  t.teardown(() => server.close())
  const sequencer = async () => ({ holder: 'a', expiresAt: 'soon' })
  await server.register(explorer, { ...options, sequencer: sequencer as never })
  t.equal((await server.inject('/explorer/overview')).statusCode, 500)
  t.match(lines.join(''), 'sequencer() must resolve to { holder, expiresAt } or undefined')
})

t.test('refuses a port that lacks a method, and names all that it needs', async (t) => {
  const { reads, ledger, queue, index, layer1 } = options
  for (const [name, port] of Object.entries({ reads, ledger, queue, index, layer1 }))
    for (const method of Object.keys(port ?? {})) {
      const lacking = { ...options, [name]: { ...port, [method]: undefined } }
      const refusal: Error = await fastify()
        .register(explorer, lacking)
        .then(
          () => new Error('registered'),
          (error) => error,
        )
      t.match(refusal.message, `@ratatosk/explorer: ${name} must be an object with the method`, method)
      for (const each of Object.keys(port ?? {})) t.match(refusal.message, new RegExp(`\\b${each}\\b`))
    }
})

t.test('refuses what it cannot read, and says what to send', async (t) => {
  const server = await build(t)
  for (const [path, message] of [
    ['rates?minutes=61', /^Invalid minutes: 61\. Send a whole number from 1 to 60$/],
    ['rates?minutes=1&minutes=2', /^Invalid minutes: 1,2/],
    ['blocks?limit=0', /^Invalid limit: 0\. Send a whole number from 1 to 100$/],
    ['blocks?before=x', /^Invalid before: x/],
    ['block/-1', /^Invalid block: -1\. Send a header hash of 56 hex digits, or a height$/],
    ['block/99999999999999999', /^Invalid block/],
    ['block/1?limit=501', /^Invalid limit: 501\. Send a whole number from 1 to 500$/],
    ['tx/ab', /^Invalid transaction hash: ab\. Send 64 hex digits$/],
    ['output/ab', /^Invalid output reference: ab\. Send <transaction hash>#<index>/],
    [`output/${'ab'.repeat(32)}%2365536`, /^Invalid output reference/],
    ['search', /^Invalid search: undefined\. Send q with 1 to 200 characters$/],
    [`search?q=${'x'.repeat(201)}`, /^Invalid search/],
    ['search?q=%00', /^Invalid search/],
    ['search?q=1&x', /^Unknown parameter: x\. Send any of q$/],
    ['blocks?limt=2', /^Unknown parameter: limt\. Send any of before, limit$/],
    ['block/1?page=2&limit=x', /^Unknown parameter: page\. Send any of offset, limit$/],
    ['rates?constructor=1', /^Unknown parameter: constructor\. Send any of minutes$/],
  ] as const) {
    const { statusCode, body } = await server.inject(`/explorer/${path}`)
    t.equal(statusCode, 400, path)
    t.match(JSON.parse(body).error, message)
  }
})

t.test('what is not here is 404 and says where it may be', async (t) => {
  const server = await build(t)
  for (const [path, message] of [
    ['block/7', /^Block 7 is not here\. .*\/explorer\/blocks/],
    [`tx/${'ab'.repeat(32)}`, /^Transaction (ab){32} is not here\. .*\/tx\/status/],
    [`output/${'ab'.repeat(32)}%231`, /^Output (ab){32}#1 is not here\. .*left layer 2/],
  ] as const) {
    const { statusCode, body } = await server.inject(`/explorer/${path}`)
    t.equal(statusCode, 404, path)
    t.match(JSON.parse(body).error, message)
  }
})

t.test('what layer 1 does not answer, or no port knows, is absent', async (t) => {
  const known = (await (await build(t)).inject('/explorer/overview')).json()
  t.match(known, { layer1: { height: 5, slot: '9' }, wallet: { address: 'addr', lovelace: '7' } })
  const down = { tip: () => Promise.reject(new Error('down')), wallet: async () => undefined }
  const { statusCode, body } = await (await build(t, { layer1: down })).inject('/explorer/overview')
  t.equal(statusCode, 200)
  const { layer1, wallet, lastCommitAt, newestHeight, sequencer } = JSON.parse(body)
  t.same([layer1, wallet, lastCommitAt, newestHeight, sequencer], Array(5).fill(undefined))
})

t.test('without an index, outputs are not served and not searched', async (t) => {
  const { index: _, ...rest } = options
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(explorer, rest)
  const reference = `${'ab'.repeat(32)}%231`
  t.equal((await server.inject(`/explorer/output/${reference}`)).statusCode, 404)
  t.same((await server.inject(`/explorer/search?q=${reference}`)).json(), { matches: [], couldBe: [] })
})

t.test('a search has one answer for all spellings of what it names', async (t) => {
  const asked: string[] = []
  const index = {
    ...options.index,
    asset: async (policy: Uint8Array, name: Uint8Array) => {
      asked.push(Buffer.concat([policy, name]).toString('hex'))
      return {}
    },
  }
  const server = await build(t, { index })
  const asset = `${'ab'.repeat(28)}cdef`
  const spellings = [asset, asset.toUpperCase(), `${asset.slice(0, 30)}${asset.slice(30).toUpperCase()}`]
  const answers = await Promise.all(spellings.map((q) => server.inject(`/explorer/search?q=${q}`)))
  t.same(asked, [asset], 'the index is asked once')
  for (const answer of answers)
    t.same(answer.json().matches, [
      { kind: 'asset', id: asset, path: `/l2/blockfrost/api/v0/assets/${asset}` },
    ])
  const { couldBe } = (await server.inject('/explorer/search?q=007')).json()
  t.same(couldBe, ['block'])
})

t.test('a failure of a port is a bare 500', async (t) => {
  const ledger = { ...options.ledger, mempool: () => Promise.reject(new Error('secret')) }
  const { statusCode, body } = await (await build(t, { ledger })).inject('/explorer/overview')
  t.same([statusCode, body], [500, '{"error":"Something went wrong"}'])
})

t.test('readers of what pages poll share its bytes', async (t) => {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  const sent: unknown[] = []
  server.addHook('onSend', async (_request, _reply, payload) => void sent.push(payload))
  await server.register(explorer, options)
  for (const path of ['overview', 'rates', 'blocks']) {
    const [one, other] = await Promise.all([1, 2].map(() => server.inject(`/explorer/${path}`)))
    t.match(one?.headers, { 'content-type': 'application/json; charset=utf-8' })
    t.same(one?.json(), other?.json())
    const [bytes, same] = sent.splice(0)
    t.ok(Buffer.isBuffer(bytes) && bytes === same, path)
  }
})

t.test('blocks of 10,000 transactions', async (t) => {
  const { cbor } = signed(keyOf('a'), {
    inputs: [{ transactionId: new Uint8Array(32), index: 0 }],
    outputs: [1n],
    fee: 3n,
  })
  const transactions = Array.from({ length: 10_000 }, () => ({ id: new Uint8Array(32), cbor }))
  let read = 0
  const server = await build(t, {
    reads: {
      ...options.reads,
      blocks: async () => [timedBlock(2n, 10_000), timedBlock(1n, 10_000)],
      block: async (id) => (id === 2n ? timedBlock(2n, 10_000) : undefined),
    },
    ledger: {
      ...options.ledger,
      transactionsOf: async (_, { offset, limit }) => {
        const part = transactions.slice(offset, offset + limit)
        read += part.length
        return part
      },
    },
  })
  const sums = { bytes: 10_000 * cbor.length, fees: '30000' }
  const readers = await Promise.all(Array.from({ length: 50 }, () => server.inject('/explorer/blocks')))
  const [first] = readers.map((answer) => answer.json().blocks)
  t.equal(read, 10_000, 'readers share one answer, which sums one of the blocks')
  t.match(first, [
    { height: 2, ...sums },
    { height: 1, bytes: undefined, fees: undefined },
  ])
  const { blocks } = (await server.inject('/explorer/blocks?limit=2')).json()
  t.equal(read, 20_000, 'the next answer sums the other one, and no block twice')
  t.match(blocks, [
    { height: 2, ...sums },
    { height: 1, ...sums },
  ])
  const opened = (await server.inject('/explorer/block/2?offset=9999')).json()
  t.equal(opened.offset, 9_999)
  t.match(opened.transactions, [{ fee: '3', inputs: 1, outputs: 1, redeemers: 0, valid: true }])
})
