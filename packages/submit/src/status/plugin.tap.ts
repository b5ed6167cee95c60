import swagger from '@fastify/swagger'
import { httpErrorOptions } from '@ratatosk/http'
import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t from 'tap'
import txStatus, { type TxStatusOptions } from './index.js'
import { accepted, build, inBlock, rejection, time, txHash } from './test/build.js'

t.test('refuses what is no hash and no id', async (t) => {
  const { get } = await build(t, {})
  for (const [query, message] of [
    ['', 'undefined'],
    ['?tx_hash=ab', 'ab'],
    [`?tx_hash=${'zz'.repeat(32)}`, 'zz'.repeat(32)],
    ['?tx_hash=1&tx_hash=2', '1,2'],
  ]) {
    const { status, body } = await get(`/tx/status${query}`)
    const error = `Invalid transaction hash: ${message}. Send tx_hash with 64 hex digits`
    t.same([status, JSON.parse(body)], [400, { error }])
  }
  for (const hashes of ['', 'ab', `${txHash},`, `${txHash},ab`, Array(101).fill(txHash).join()]) {
    const { status, body } = await get(`/tx/statuses?tx_hash=${hashes}`)
    t.equal(status, 400)
    t.match(JSON.parse(body).error, /Send tx_hash once, with up to 100 hashes of 64 hex digits/)
  }
  for (const query of ['', '?id=', '?id=a&id=b', '?id=%00', `?id=${'x'.repeat(201)}`]) {
    const { status, body } = await get(`/submission${query}`)
    t.equal(status, 400)
    t.match(JSON.parse(body).error, /^Invalid submission id: .*\. Send id as POST \/submit answered it$/s)
  }
})

t.test('refuses parameters that a route does not have', async (t) => {
  const { get } = await build(t, {})
  for (const [url, name] of [
    [`/tx/status?tx_hash=${txHash}`, 'tx_hash'],
    [`/tx/statuses?tx_hash=${txHash}`, 'tx_hash'],
    ['/submission?id=s-1', 'id'],
  ]) {
    const { status, body } = await get(`${url}&foo=1`)
    t.same([status, JSON.parse(body)], [400, { error: `Invalid parameter: foo. Send only ${name}` }])
  }
})

t.test('answers must not be stored, hashes may be in either case', async (t) => {
  const { get } = await build(t, {})
  const answer = await get(`/tx/status?tx_hash=${txHash.toUpperCase()}`)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(JSON.parse(answer.body).txHash, txHash)
})

t.test('a failure of a port is a bare 500', async (t) => {
  const { get } = await build(
    t,
    {},
    {
      queue: {
        find: () => Promise.reject(new Error('secret')),
        findTransaction: () => Promise.reject(new Error('secret')),
      },
    },
  )
  for (const path of ['/submission?id=s-1', `/tx/status?tx_hash=${txHash}`]) {
    const { status, body } = await get(path)
    t.same([status, body], [500, '{"error":"Something went wrong"}'])
  }
})

t.test('the log names the port and the field that have another shape', async (t) => {
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'error', stream } })
  t.teardown(() => server.close())
  const found: Record<string, unknown> = {}
  const find = (name: string) => async () => found[name]
  const { block } = inBlock('mature')
  const queued = { state: 'queued', submittedAt: time, attempts: 0 }
  await server.register(txStatus, {
    ledger: { placeOf: find('placeOf'), placesOf: find('placesOf') },
    rejections: { find: find('rejection'), findTransaction: find('rejectionOf') },
    queue: { find: find('queued'), findTransaction: find('queuedOf') },
    removals: { ofTransaction: find('removals') },
  } as unknown as TxStatusOptions)
  const [status, statuses] = [`/tx/status?tx_hash=${txHash}`, `/tx/statuses?tx_hash=${txHash}`]
  const submission = '/submission?id=s-1'
  for (const [url, answers, message] of [
    [status, { placeOf: { acceptedAt: 5 } }, 'ledger.placeOf: acceptedAt must be a Date'],
    [status, { placeOf: { acceptedAt: new Date(Number.NaN) } }, 'ledger.placeOf: acceptedAt must be a Date'],
    [
      status,
      { placeOf: { ...accepted, block: { ...block, state: 'done' } } },
      'ledger.placeOf: block.state must be one of built, submitted, committed, mature, merged',
    ],
    [
      status,
      { placeOf: { ...accepted, block: { ...block, endTime: 'soon' } } },
      'ledger.placeOf: block.endTime must be an integer',
    ],
    [
      status,
      { placeOf: { ...accepted, block: { ...block, headerHash: 'ab' } } },
      'ledger.placeOf: block.headerHash must be a Uint8Array',
    ],
    [
      status,
      { queuedOf: { ...queued, state: 'left' } },
      'queue.findTransaction: state must be one of queued, validating',
    ],
    [status, { removals: {} }, 'removals.ofTransaction: the result must be an array'],
    [status, { removals: [{}] }, 'removals.ofTransaction: removedAt must be a Date'],
    [
      status,
      { rejectionOf: { ...rejection, rejectedAt: 'today' } },
      'rejections.findTransaction: rejectedAt must be a Date',
    ],
    [statuses, {}, 'ledger.placesOf: the result must be an array'],
    [statuses, { placesOf: [] }, 'ledger.placesOf: the result must have an entry for each transaction'],
    [statuses, { placesOf: [{}] }, 'ledger.placesOf: acceptedAt must be a Date'],
    [
      submission,
      { queued: { ...queued, state: 'done' } },
      'queue.find: state must be one of queued, validating',
    ],
    [submission, { queued: { ...queued, submittedAt: 5 } }, 'queue.find: submittedAt must be a Date'],
    [
      submission,
      { queued: { ...queued, transactionId: txHash } },
      'queue.find: transactionId must be a Uint8Array',
    ],
    [submission, { rejection: { ...rejection, code: 7 } }, 'rejections.find: code must be a string'],
  ] as const) {
    for (const name of Object.keys(found)) delete found[name]
    Object.assign(found, answers)
    const { statusCode, body } = await server.inject(url)
    t.same([statusCode, body], [500, '{"error":"Something went wrong"}'], message)
    t.match(log().at(-1), { err: { type: 'TypeError', message } })
  }
  for (const name of ['placeOf', 'rejection', 'rejectionOf', 'queued', 'queuedOf', 'removals'])
    found[name] = null
  found.placesOf = [null]
  t.equal((await server.inject(status)).json().status, 'unknown')
  t.equal((await server.inject(statuses)).json().statuses[0].status, 'unknown')
  t.equal((await server.inject(submission)).json().status, 'unknown')
})

t.test('documents every route, parameter and status', async (t) => {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  await server.register(txStatus, {
    ledger: { placeOf: async () => undefined, placesOf: async () => [] },
    rejections: { find: async () => undefined, findTransaction: async () => undefined },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
  })
  await server.ready()
  const { paths = {} } = server.swagger() as unknown as {
    paths?: Record<string, { get: { responses: object; parameters: { name: string }[] } }>
  }
  for (const [path, parameter] of [
    ['/tx/status', 'tx_hash'],
    ['/tx/statuses', 'tx_hash'],
    ['/submission', 'id'],
  ] as const) {
    t.equal(Object.keys(paths[path]?.get.responses ?? {}).join(' '), '200 400 408 429 431 500 503')
    t.same(
      paths[path]?.get.parameters.map(({ name }) => name),
      [parameter],
    )
  }
})

t.test('refuses options that cannot work', async (t) => {
  const good = {
    ledger: { placeOf: async () => undefined, placesOf: async () => [] },
    rejections: { find: async () => undefined, findTransaction: async () => undefined },
    queue: { find: async () => undefined, findTransaction: async () => undefined },
  }
  for (const options of [
    {},
    { ...good, ledger: {} },
    { ...good, rejections: { find: good.rejections.find } },
    { ...good, queue: {} },
    { ...good, queue: { find: good.queue.find } },
    { ...good, maturityWindowMs: -1 },
  ] as unknown as TxStatusOptions[]) {
    await t.rejects(async () => fastify().register(txStatus, options), TypeError)
  }
})
