import swagger from '@fastify/swagger'
import { httpErrorOptions } from '@ratatosk/http'
import fastify from 'fastify'
import t from 'tap'
import txStatus, { type TxStatusOptions } from './index.js'
import { build, txHash } from './test/build.js'

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
