import swagger from '@fastify/swagger'
import { ask, browserAttacks } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import { prettyFactory } from 'pino-pretty'
import t from 'tap'
import operator, { type BlockCount, operator as named, type OperatorOptions } from './index.js'
import { build, logs, Node, paths, requests } from './test/build.js'

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(operator, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/operator'))
})

t.test('serves only the operations that `serve` names', async (t) => {
  const { operations: runner } = new Node().ports
  for (const request of requests) {
    const [, name = ''] = /^.(\w+)/.exec(request) ?? []
    const { get, node } = await build(t, {
      serve: [name],
      blocks: undefined,
      globals: undefined,
    } as unknown as Partial<OperatorOptions>)
    const unknown = await get('/nothing')
    t.equal(unknown.body, '{"error":"Not Found","code":"DISABLED"}')
    for (const path of paths) {
      if (path === request) t.equal((await get(path)).status, 200, path)
      else t.same(await get(path), unknown, `${path} where only ${name} is served`)
    }
    t.equal(node.asked.length, 1)
  }
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(operator, { operations: runner, serve: [] })
  t.equal((await server.inject('/commit')).statusCode, 404)
})

t.test('serves a log route only if its port is given', async (t) => {
  const { ports } = new Node()
  for (const [name, served] of [
    ['blocks', '/logBlocksTxsDB'],
    ['globals', '/logGlobals'],
  ] as const) {
    const server = fastify({ logger: false })
    t.teardown(() => server.close())
    await server.register(operator, { operations: ports.operations, [name]: ports[name] })
    for (const path of logs) {
      t.equal((await server.inject(path)).statusCode, path === served ? 200 : 404, path)
    }
  }
})

t.test('serves two nodes in one server, each under its prefix', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const [first, second] = [new Node(), new Node()]
  second.end({ kind: 'nothing-to-commit' })
  await server.register(operator, { prefix: '/first', ...first.ports })
  await server.register(operator, { prefix: '/second', ...second.ports, operatorToken: 'a' })
  const authorization = 'Bearer a'
  t.match((await server.inject('/first/commit')).json(), { transactions: 3 })
  t.equal((await server.inject('/second/commit')).statusCode, 401)
  t.match((await server.inject({ url: '/second/commit', headers: { authorization } })).json(), {
    message: 'Nothing to commit',
  })
  t.equal((await server.inject('/commit')).statusCode, 404)
  t.same([first.asked, second.asked], [['commit'], ['commit']])
})

t.test('leaves the error handler of the server unchanged', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  server.get('/own', async () => {
    throw Object.assign(new Error('x'), { kind: 'timeout', code: 'LAYER1_TIMEOUT' })
  })
  await server.register(operator, new Node().ports)
  t.equal((await server.inject('/own')).statusCode, 418)
})

t.test('throws at startup for options that cannot work', async (t) => {
  const { ports } = new Node()
  for (const [options, message] of [
    [{}, '@ratatosk/operator: operations must be an object with the method run'],
    [{ operations: {} }, '@ratatosk/operator: operations must be an object with the method run'],
    [
      { ...ports, serve: ['commit', 'repair'] },
      '@ratatosk/operator: serve must be an array of init, commit, merge, reset, remove',
    ],
    [
      { ...ports, operatorToken: '' },
      /^@ratatosk\/operator: operatorToken must be a text of ASCII characters/,
    ],
    [
      { ...ports, allowedHosts: ['http://a'] },
      /^@ratatosk\/operator: allowedHosts must be an array of host names or IP/,
    ],
  ] as const) {
    const server = fastify()
    await t.rejects(async () => server.register(operator, options as unknown as OperatorOptions), { message })
    await server.close()
  }
})

t.test('documents every route and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(operator, new Node().ports)
  await server.ready()
  interface Operation {
    operationId: string
    summary: string
    responses: Record<string, { description: string; content: { 'application/json': { schema: object } } }>
  }
  const documented = server.swagger().paths as Record<string, Record<string, Operation>>
  const operation = ['200', '401', '403', '408', '409', '431', '500', '503', '504']
  const change = ['200', '400', '401', '403', '408', '409', '413', '415', '431', '500', '503', '504']
  const log = ['200', '401', '403', '408', '431', '500', '503']
  t.same(
    Object.entries(documented).map(([path, methods]) => [
      path,
      Object.keys(methods),
      Object.values(methods).flatMap(({ responses }) => Object.keys(responses)),
    ]),
    [
      ['/init', ['get'], operation],
      ['/commit', ['get'], operation],
      ['/merge', ['get'], operation],
      ['/reset', ['get'], operation],
      ['/remove', ['get'], ['200', '400', ...operation.slice(1)]],
      ['/operator/register', ['post'], change],
      ['/operator/retire', ['post'], change],
      ['/operator/release', ['post'], change],
      ['/logBlocksTxsDB', ['get'], log],
      ['/logGlobals', ['get'], log],
    ],
  )
  for (const methods of Object.values(documented)) {
    const { operationId, summary, responses } = Object.values(methods)[0]!
    t.ok(operationId && summary)
    for (const { description, content } of Object.values(responses)) {
      t.not(description, 'Default Response')
      t.ok(content['application/json'].schema)
    }
  }
})

t.test('answers HEAD and other methods on an operation like an unknown path, byte for byte', async (t) => {
  const { node, url } = await build(t)
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const unknown = await ask(`${url}/nothing`, { method })
    t.equal(unknown.status, 404)
    t.equal(unknown.body, method === 'HEAD' ? '' : '{"error":"Not Found","code":"DISABLED"}')
    for (const request of requests) t.same(await ask(`${url}${request}`, { method }), unknown, request)
  }
  t.same(node.asked, [], 'nothing runs')
})

t.test('serves HEAD like GET where a route only writes to the log', async (t) => {
  const { get, head } = await build(t)
  for (const path of logs) t.same(await head(path), { ...(await get(path)), body: '' }, path)
})

t.test('keeps hostile web pages from every route, with and without a token', async (t) => {
  for (const options of [{}, { operatorToken: 'secret' }, { allowedHosts: ['node.example'] }]) {
    const { node, url, port } = await build(t, options)
    for (const { name, path = (route: string) => route, headers, ...question } of browserAttacks(port)) {
      for (const route of paths) {
        const answer = await ask(url + path(route), {
          ...question,
          headers: { ...headers, authorization: 'Bearer secret' },
        })
        t.equal(answer.status, question.method ? 404 : 403, `${name}: ${route}`)
        if (answer.status === 403) t.equal(answer.headers['cache-control'], 'no-store')
      }
    }
    t.same(node.asked, [], 'nothing runs')
  }
})

t.test('serves an own page, the address bar and allowed hosts', async (t) => {
  const { get, port } = await build(t, { allowedHosts: ['node.example'] })
  for (const headers of [
    { 'sec-fetch-site': 'same-origin', origin: `http://127.0.0.1:${port}` },
    { 'sec-fetch-site': 'none', 'user-agent': 'Mozilla/5.0' },
    { host: 'node.example', origin: 'https://node.example' },
  ] as Record<string, string>[]) {
    for (const path of paths) t.equal((await get(path, headers)).status, 200, path)
  }
})

t.test('asks for the token on every route', async (t) => {
  const { node, get } = await build(t, { operatorToken: 'secret' })
  for (const path of paths) {
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Bearer secret2', 'Basic secret', 'secret']) {
      const answer = await get(path, authorization ? { authorization } : {})
      t.equal(answer.status, 401, `${path}: ${authorization}`)
      t.equal(answer.body, '{"error":"Unauthorized"}')
      t.equal(answer.headers['www-authenticate'], 'Bearer')
      t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
      t.equal(answer.headers['cache-control'], 'no-store')
    }
  }
  t.same(node.asked, [], 'nothing runs')
  for (const path of paths) {
    t.equal((await get(path, { authorization: 'Bearer secret' })).status, 200, path)
  }
})

t.test('is unauthenticated without a token', async (t) => {
  const { get } = await build(t)
  for (const path of paths) {
    t.equal((await get(path)).status, 200, path)
    t.equal((await get(path, { authorization: 'Bearer whatever' })).status, 200, path)
  }
})

const block = (height: bigint, state: BlockCount['state'], transactions: number): BlockCount => ({
  height,
  state,
  transactions,
  headerHash: Buffer.alloc(28, Number(height)),
})
const pretty = prettyFactory({ colorize: false, ignore: 'time,pid,hostname,reqId' })

t.test('GET /logBlocksTxsDB logs a table of blocks and their transaction counts as one record', async (t) => {
  const { node, get, lines, log } = await build(t)
  node.blocks = [block(13n, 'submitted', 11), block(12n, 'committed', 10_000), block(9n, 'merged', 0)]
  const answer = await get('/logBlocksTxsDB')
  t.equal(answer.status, 200)
  t.equal(answer.body, '{"message":"BlocksTxsDB drawn in server logs!"}')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.same(node.asked, ['blocks 100'])
  const table = [
    'Blocks: 3, transactions: 10011',
    '  height  state      transactions  header hash',
    `      13  submitted            11  ${'0d'.repeat(28)}`,
    `      12  committed         10000  ${'0c'.repeat(28)}`,
    `       9  merged                0  ${'09'.repeat(28)}`,
  ].join('\n')
  t.equal(log().length, 1)
  t.match(log()[0], { level: 30, reqId: 'req-1', msg: table })
  const record = lines.find((line) => line.includes('Blocks: 3'))!
  t.equal(record.indexOf('\n'), record.length - 1, 'the only line break ends the record')
  t.equal(pretty(record), `INFO: ${table}\n`)
})

t.test('GET /logBlocksTxsDB logs that there are no blocks yet', async (t) => {
  const { get, log } = await build(t)
  t.equal((await get('/logBlocksTxsDB')).status, 200)
  t.match(log(), [{ level: 30, msg: 'Blocks: none' }])
})

t.test('answers 500 for block counts that are none, and logs the field', async (t) => {
  const { node, get, log } = await build(t)
  const [one] = [block(1n, 'merged', 1)]
  for (const [counts, message] of [
    [undefined, 'an array of BlockCount: Expected array'],
    [[{}], 'an array of BlockCount: 0.height: Expected required property'],
    [[one, { ...one, headerHash: 'ab' }], 'an array of BlockCount: 1.headerHash: Expected Uint8Array'],
    [Array(101).fill(one), 'at most 100 entries'],
  ] as const) {
    node.blocks = counts as unknown as BlockCount[]
    t.equal((await get('/logBlocksTxsDB')).status, 500, message)
    t.match(log().at(-1), { err: { message: `blocks.counts() must resolve to ${message}` } })
  }
})

t.test('GET /logGlobals logs in-memory state of any shape as one record', async (t) => {
  const { node, get, lines, log } = await build(t)
  const circular: Record<string, unknown> = { own: 1 }
  circular.self = circular
  const shared = { a: 1 }
  let deep: unknown = 'bottom'
  for (let depth = 0; depth < 10_000; depth++) deep = [deep]
  node.globals = {
    lovelace: 2n ** 64n,
    hash: Uint8Array.of(0, 255),
    at: new Date(0),
    never: new Date(Number.NaN),
    set: new Set([1n, 'a']),
    map: new Map<unknown, unknown>([
      [Uint8Array.of(1), { nested: Buffer.of(2) }],
      [3n, undefined],
    ]),
    failure: new TypeError('bad'),
    run: () => 1,
    missing: undefined,
    nothing: null,
    symbol: Symbol('s'),
    list: [1, true, 'text'],
    circular,
    twice: [shared, shared],
    active: true,
  }
  const answer = await get('/logGlobals')
  t.equal(answer.status, 200)
  t.equal(answer.body, '{"message":"Global variables logged!"}')
  t.equal(answer.headers['cache-control'], 'no-store')
  const [record, ...others] = log()
  t.same(others, [])
  t.match(record, { level: 30, reqId: 'req-1', msg: 'Global variables' })
  t.same(record?.globals, {
    lovelace: '18446744073709551616',
    hash: '00ff',
    at: '1970-01-01T00:00:00.000Z',
    never: null,
    set: ['1', 'a'],
    map: { '01': { nested: '02' } },
    failure: 'TypeError: bad',
    nothing: null,
    symbol: 'Symbol(s)',
    list: [1, true, 'text'],
    circular: { own: 1, self: '[circular]' },
    twice: [{ a: 1 }, { a: 1 }],
    active: true,
  })
  t.match(pretty(lines.find((line) => line.includes('Global variables'))!), /INFO: Global variables\n/)

  node.globals = { deep }
  t.equal((await get('/logGlobals')).status, 200, 'however deep')
  t.match(JSON.stringify(log()[1]?.globals), '[deeper]')
})

t.test('GET /logGlobals accepts a snapshot that is neither a promise nor an object', async (t) => {
  for (const value of [7, 'text', null, undefined, [1n]]) {
    const { get, log } = await build(t, { globals: { snapshot: () => value } })
    t.equal((await get('/logGlobals')).status, 200)
    t.match(log(), [{ msg: 'Global variables' }])
  }
})
