import swagger from '@fastify/swagger'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t from 'tap'
import bridge, { type BridgeOptions, bridge as named } from './index.js'
import type { DraftOutcome } from './ports.js'
import { build, deposit, Ports, withdrawal } from './test/build.js'

const secret = 'https://preprod0000secret@blockfrost.example'
const reads = ['/bridge', '/deposits', '/withdrawals']
const writes = ['/bridge/draft', '/bridge/submit', '/payout']

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(bridge, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/state-queue/bridge'))
})

t.test('says that the deployment has no bridge', async (t) => {
  const { get, post } = await build(t, { ports: undefined, operatorToken: 'secret' })
  const error = 'This deployment has no bridge'
  for (const path of reads) {
    const answer = await get(`${path}?anything=1`)
    t.equal(answer.status, 404, path)
    t.equal(answer.body, JSON.stringify({ error }))
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  for (const path of writes) t.same(await post(path, '{'), { status: 404, body: { error } }, path)
})

t.test('does not serve POST /payout in a process that pays nothing', async (t) => {
  const { post, get } = await build(t, { ports: { ...new Ports().ports, payer: undefined } })
  t.same(await post('/payout', {}), { status: 404, body: { error: 'Not Found', code: 'DISABLED' } })
  t.equal((await get('/bridge')).status, 200)
})

t.test('answers 503 when layer 1 fails, naming the kind of failure only', async (t) => {
  const { ports, get, post, log } = await build(t)
  ports.failure = Object.assign(new Error(secret), { code: 'LAYER1_TIMEOUT', kind: secret })
  const body = { status: 'error', error: 'The layer-1 provider failed: timeout', cause: 'timeout' }
  for (const path of reads) {
    const answer = await get(path)
    t.equal(answer.status, 503, path)
    t.same(JSON.parse(answer.body), body)
    t.equal(answer.headers['cache-control'], 'no-store')
    t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { code: 'LAYER1_TIMEOUT' } })
  }
  t.same(await post('/bridge/submit', { transaction: '84' }), { status: 503, body })
  t.same(await post('/payout', {}), { status: 503, body })
})

t.test('answers 500 for a port that gives nothing, and logs which one', async (t) => {
  for (const nothing of [undefined, null]) {
    const give = async () => nothing as never
    const { get, post, log } = await build(t, {
      ports: {
        bridge: { read: give },
        deposits: { list: give },
        withdrawals: { list: give },
        drafter: { deposit: give, payout: give },
        submitter: { submit: give },
        payer: undefined,
      },
    })
    for (const [path, message] of [
      ['/bridge', 'bridge.read() must resolve to Bridge: Expected object'],
      ['/deposits', 'deposits.list() must resolve to BridgeDeposits: Expected object'],
      ['/withdrawals', 'withdrawals.list() must resolve to BridgeWithdrawals: Expected object'],
    ] as const) {
      const answer = await get(path)
      t.equal(answer.status, 500, path)
      t.equal(answer.body, '{"error":"Something went wrong"}')
      t.match(log().at(-1), { level: 50, err: { message } })
    }
    t.match(await post('/bridge/submit', { transaction: '84' }), { status: 500 })
    const kinds = '{ kind: sent | foreign | spent | refused | busy }'
    t.match(log().at(-1), { level: 50, err: { message: `submitter.submit() must resolve to ${kinds}` } })
  }
})

t.test('answers 500 for a port that gives something else, and logs the method and the field', async (t) => {
  const { ports, get, post, log } = await build(t)
  const expectFault = (path: string, answer: { readonly status: number }, message: string) => {
    t.equal(answer.status, 500, path)
    t.match(log().at(-1), { level: 50, err: { message } })
  }
  Object.assign(ports, { view: { ...ports.view, payoutFee: 5 } })
  const fault = 'bridge.read() must resolve to Bridge: payoutFee: Expected bigint'
  expectFault('/bridge', await get('/bridge'), fault)
  Object.assign(ports, { deposits: [{ ...deposit(1), id: 'ab' }], withdrawals: [withdrawal(1)] })
  const id = 'deposits.list() must resolve to BridgeDeposits: deposits.0.id: Expected Uint8Array'
  expectFault('/deposits', await get('/deposits'), id)
  Object.assign(ports, { withdrawals: Object.assign([], { slice: () => [withdrawal(1), withdrawal(2)] }) })
  const most = 'withdrawals.list() must resolve to at most 1 entries'
  expectFault('/withdrawals', await get('/withdrawals?limit=1'), most)
  Object.assign(ports, { submitted: { kind: 'sent', transactionId: 'ab' }, paid: { kind: 'refused' } })
  const sent = 'submitter.submit() must resolve to BridgeSubmitted: txHash: Expected Uint8Array'
  expectFault('/bridge/submit', await post('/bridge/submit', { transaction: '84' }), sent)
  const refused = 'payer.pay() must resolve to { kind: refused }: reason: Expected required property'
  expectFault('/payout', await post('/payout', {}), refused)
})

t.test('answers any other failure with a bare 500 and logs its cause', async (t) => {
  const { ports, get, log } = await build(t)
  ports.failure = Object.assign(new Error(secret), { statusCode: 404, code: '42P01' })
  for (const path of reads) {
    const answer = await get(path)
    t.equal(answer.status, 500, path)
    t.equal(answer.body, '{"error":"Something went wrong"}')
    t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { message: secret } })
  }
})

t.test('throws at startup for options that cannot work', async (t) => {
  const { ports } = new Ports()
  for (const [options, message] of [
    [undefined, /bridge: ports must be an object of ports, or undefined for no bridge$/],
    [{}, /bridge: ports must be an object of ports, or undefined for no bridge$/],
    [{ ports: null }, /bridge: ports must be an object of ports, or undefined for no bridge$/],
    [{ ports: {} }, /bridge: ports\.bridge must be an object with the method read$/],
    [
      { ports: { ...ports, drafter: {} } },
      /: ports\.drafter must be an object with the methods deposit, payout/,
    ],
    [{ ports: { ...ports, payer: {} } }, /: ports\.payer must be an object with the method pay/],
    [
      { ports: { ...ports, payee: {} } },
      /: there is no option ports\.payee; its options are ports\.bridge, /,
    ],
  ] as const) {
    const server = fastify()
    await t.rejects(async () => server.register(bridge, options as unknown as BridgeOptions), { message })
    await server.close()
  }
})

t.test('documents no route of a bridge that there is not', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(bridge, { ports: undefined, prefix: '/a' })
  await server.ready()
  t.same(server.swagger().paths, {})
})

t.test('documents every route and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(bridge, { ports: new Ports().ports })
  await server.ready()
  interface Operation {
    readonly operationId: string
    readonly parameters?: readonly { readonly name: string }[]
    readonly responses: Record<string, { readonly description: string }>
  }
  const documented = server.swagger().paths as Record<string, Record<string, Operation>>
  t.same(
    Object.entries(documented).map(([path, { get, post = get }]) => [
      path,
      post?.operationId,
      post?.parameters?.map(({ name }) => name).join(' ') ?? '',
      Object.keys(post?.responses ?? {}).join(' '),
    ]),
    [
      ['/bridge', 'getBridge', '', '200 400 404 408 429 431 500 503'],
      [
        '/deposits',
        'listDeposits',
        'id outref address state limit offset',
        '200 400 404 408 429 431 500 503',
      ],
      [
        '/withdrawals',
        'listWithdrawals',
        'outref address header_hash state limit offset',
        '200 400 404 408 429 431 500 503',
      ],
      ['/bridge/draft', 'draftBridgeTransaction', '', '200 400 404 408 409 413 415 429 431 500 503'],
      ['/bridge/submit', 'submitBridgeTransaction', '', '200 400 404 408 409 413 415 429 431 500 503'],
      ['/payout', 'payWithdrawals', '', '200 400 401 403 404 408 409 413 415 431 500 503'],
    ],
  )
  for (const { get, post = get } of Object.values(documented))
    for (const { description } of Object.values(post?.responses ?? {})) t.not(description, 'Default Response')
})

const depositBody = { kind: 'deposit', utxos: ['82aa'], changeAddress: 'a', to: 'b', lovelace: '1' }

t.test('one client with many drafts leaves turns to the others', async (t) => {
  const { ports } = new Ports()
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let drafting = 0
  const drafted = async (): Promise<DraftOutcome> => {
    drafting++
    await ended
    return { kind: 'not owed', reason: 'Nothing is owed' }
  }
  const { stream, records } = recordedLog()
  const logger = { level: 'debug', stream }
  const server = fastify({ ...httpErrorOptions, trustProxy: true, logger })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(bridge, { ports: { ...ports, drafter: { deposit: drafted, payout: drafted } } })
  const ask = (client: string) =>
    server.inject({
      method: 'POST',
      url: '/bridge/draft',
      headers: { 'x-forwarded-for': client },
      payload: depositBody,
    })

  const flood = Array.from({ length: 60 }, () => ask('192.0.2.1'))
  const refused = await Promise.race(flood)
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.same(refused.json(), { error: 'Too many requests of this client to the bridge wait: retry later' })
  const others = ['192.0.2.2', '192.0.2.3'].map(ask)
  while (drafting < 6) await new Promise(setImmediate)
  end()
  const statuses = async (answers: typeof flood) =>
    (await Promise.all(answers)).map(({ statusCode }) => statusCode).sort()
  t.same(await statuses(others), [409, 409], 'they have been drafted for')
  t.same(await statuses(flood), [...Array(4).fill(409), ...Array(56).fill(503)])
  t.equal((await ask('192.0.2.1')).statusCode, 409, 'those that have ended do not count')
  t.same(
    records().filter(({ level }) => Number(level) >= 40),
    [],
    'a flood of requests is no flood of log lines',
  )
})

t.test('one client with many lists leaves turns to the others', async (t) => {
  const { ports } = new Ports()
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const list = async () => {
    await ended
    return { withdrawals: [], hasMore: false }
  }
  const server = fastify({ ...httpErrorOptions, trustProxy: true })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(bridge, { ports: { ...ports, withdrawals: { list } } })
  const ask = (client: string) =>
    server.inject({ url: '/withdrawals', headers: { 'x-forwarded-for': client } })
  const flood = Array.from({ length: 5 }, () => ask('192.0.2.1'))
  t.equal((await Promise.race(flood)).statusCode, 503)
  const other = ask('192.0.2.2')
  end()
  t.equal((await other).statusCode, 200)
  const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode).sort()
  t.same(statuses, [200, 200, 200, 200, 503])
})
