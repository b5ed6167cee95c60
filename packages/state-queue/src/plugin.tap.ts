import swagger from '@fastify/swagger'
import fastify from 'fastify'
import t from 'tap'
import stateQueue, { stateQueue as named, type StateQueueOptions } from './index.js'
import { build, Chain, paths, reads } from './test/build.js'

const notFound = '{"error":"Not Found","code":"DISABLED"}'
const secret = 'https://preprod0000secret@blockfrost.example'

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(stateQueue, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/state-queue'))
})

t.test('serves a route only if its port is given', async (t) => {
  for (const [place, port] of (['queue', 'rootUnits', 'repair', 'wallet'] as const).entries()) {
    const only: Partial<StateQueueOptions> = {}
    for (const name of ['queue', 'rootUnits', 'repair', 'wallet']) {
      if (name !== port) Object.assign(only, { [name]: undefined })
    }
    const { get } = await build(t, only)
    for (const path of paths) {
      const answer = await get(path)
      t.equal(answer.status, path === paths[place] ? 200 : 404, `${port}: ${path}`)
      if (path !== paths[place]) t.equal(answer.body, notFound)
    }
  }
})

t.test('answers 503 when layer 1 fails, naming the kind of failure only', async (t) => {
  const { chain, get, log } = await build(t)
  for (const [kind, code] of [
    ['timeout', 'LAYER1_TIMEOUT'],
    ['rate limited', 'LAYER1_RATE_LIMITED'],
    ['unreachable', 'LAYER1_UNREACHABLE'],
    ['provider error', 'LAYER1_PROVIDER_ERROR'],
    ['invalid answer', 'LAYER1_INVALID_ANSWER'],
    ['unauthorized', 'LAYER1_UNAUTHORIZED'],
    ['wrong network', 'LAYER1_WRONG_NETWORK'],
  ] as const) {
    chain.failure = Object.assign(new Error(secret), { code, kind: secret, reason: secret })
    for (const path of paths) {
      const answer = await get(path)
      t.equal(answer.status, 503, `${path}: ${kind}`)
      t.equal(
        answer.body,
        `{"status":"error","error":"The layer-1 provider failed: ${kind}","cause":"${kind}"}`,
      )
      t.equal(answer.headers['cache-control'], 'no-store')
      t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { code } })
    }
  }
  chain.failure = undefined
  t.equal((await get('/stateQueue')).status, 200, 'the next request may succeed')
})

t.test('answers cause unknown to a failure that it does not know', async (t) => {
  const { chain, get } = await build(t)
  chain.failure = Object.assign(new Error('x'), { kind: secret, code: 'LAYER1_NEW' })
  for (const path of paths) {
    t.match(await get(path), {
      status: 503,
      body: '{"status":"error","error":"The layer-1 provider failed","cause":"unknown"}',
    })
  }
})

t.test(
  'answers any other failure with a bare 500 and logs its cause under the id of the request',
  async (t) => {
    const { chain, get, log } = await build(t)
    chain.failure = Object.assign(new Error(secret), { statusCode: 404, code: '42P01' })
    for (const path of paths) {
      const answer = await get(path)
      t.equal(answer.status, 500, path)
      t.equal(answer.body, '{"error":"Something went wrong"}')
      t.equal(answer.headers['cache-control'], 'no-store')
      t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { message: secret } })
    }
  },
)

t.test('answers 500 for a port that gives something else, and logs the method and the field', async (t) => {
  const { chain, get, log } = await build(t)
  const units = { ...chain.units, outRefs: undefined }
  for (const [change, path, message] of [
    [{ view: undefined }, 0, 'queue.read() must resolve to StateQueueView: Expected object'],
    [
      { view: { roots: [], blocks: [{ headerHash: 'ab' }] } },
      0,
      'queue.read() must resolve to StateQueueView: blocks.0.startTime: Expected required property',
    ],
    [{ units: undefined }, 1, 'rootUnits.read() must resolve to RootUnits: Expected object'],
    [{ units }, 1, 'rootUnits.read() must resolve to RootUnits: outRefs: Expected array'],
    [
      { result: { kind: 'refused', code: 'A' } },
      2,
      'repair.repair() must resolve to { kind: refused }: message: Expected required property',
    ],
    [{ balance: '5' }, 3, 'wallet.lovelace() must resolve to a bigint: Expected bigint'],
  ] as const) {
    Object.assign(chain, change)
    const { status, body } = await get(paths[path])
    t.same([status, body], [500, '{"error":"Something went wrong"}'], message)
    t.match(log().at(-1), { level: 50, err: { message } })
  }
})

t.test('serves HEAD like GET on the reads, failures included', async (t) => {
  const { chain, get, head } = await build(t)
  for (const failure of [
    undefined,
    new Error('any'),
    Object.assign(new Error(''), { kind: 'timeout', code: 'LAYER1_TIMEOUT' }),
  ]) {
    chain.failure = failure
    for (const path of reads) {
      const [asked, headed] = [await get(path), await head(path)]
      t.same(headed, { ...asked, body: '' }, path)
    }
  }
})

t.test('serves two queues in one server, each under its prefix', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const [first, second] = [new Chain(), new Chain()]
  first.balance = 1n
  second.balance = 2n
  await server.register(stateQueue, { prefix: '/first', ...first.ports, operatorToken: 'a' })
  await server.register(stateQueue, { prefix: '/second', ...second.ports })
  const get = async (url: string) => (await server.inject(url)).body
  t.equal(await get('/first/commitment-wallet/balance'), '{"lovelaceBalance":"1"}')
  t.equal(await get('/second/commitment-wallet/balance'), '{"lovelaceBalance":"2"}')
  t.equal((await server.inject('/commitment-wallet/balance')).statusCode, 404)
  t.equal((await server.inject('/first/stateQueue/repair-root-units')).statusCode, 401)
  t.equal((await server.inject('/second/stateQueue/repair-root-units')).statusCode, 200)
})

t.test('leaves the error handler of the server unchanged', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  server.get('/own', async () => {
    throw Object.assign(new Error('x'), { kind: 'timeout', code: 'LAYER1_TIMEOUT' })
  })
  await server.register(stateQueue, new Chain().ports)
  t.equal((await server.inject('/own')).statusCode, 418)
})

t.test('throws at startup for options that cannot work', async (t) => {
  for (const [options, message] of [
    [{}, /one of queue, rootUnits, repair, wallet is required/],
    [
      { ...new Chain().ports, operatorToken: '' },
      /^@ratatosk\/state-queue: operatorToken must be a text of ASCII characters/,
    ],
    [
      { ...new Chain().ports, allowedHosts: ['a:1'] },
      /^@ratatosk\/state-queue: allowedHosts must be an array of host names or IP/,
    ],
  ] as const) {
    const server = fastify()
    await t.rejects(async () => server.register(stateQueue, options), { message })
    await server.close()
  }
})

t.test('documents every route and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(stateQueue, new Chain().ports)
  await server.ready()
  interface Operation {
    operationId: string
    summary: string
    tags: string[]
    responses: Record<string, { description: string; content: { 'application/json': { schema: object } } }>
  }
  const documented = server.swagger().paths as Record<string, Record<string, Operation>>
  const read = ['200', '408', '429', '431', '500', '503']
  t.same(
    Object.entries(documented).map(([path, methods]) => [
      path,
      Object.keys(methods),
      Object.keys(methods.get?.responses ?? {}),
    ]),
    [
      ['/stateQueue', ['get'], read],
      ['/stateQueue/root-unit-diagnostics', ['get'], read],
      [
        '/stateQueue/repair-root-units',
        ['get'],
        ['200', '401', '403', '408', '409', '431', '500', '503', '504'],
      ],
      ['/commitment-wallet/balance', ['get'], read],
    ],
  )
  for (const methods of Object.values(documented)) {
    const { operationId, summary, responses } = methods.get!
    t.ok(operationId && summary)
    for (const { description, content } of Object.values(responses)) {
      t.not(description, 'Default Response')
      t.ok(content['application/json'].schema)
    }
  }
})
