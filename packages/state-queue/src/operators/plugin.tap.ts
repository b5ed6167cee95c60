import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import t from 'tap'
import operators, { operators as named, type OperatorsOptions } from './index.js'
import { build, hash28, hex28, Ports, paths, question, verdict } from './test/build.js'

const notFound = '{"error":"Not Found","code":"DISABLED"}'
const secret = 'https://preprod0000secret@blockfrost.example'

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(operators, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/state-queue/operators'))
})

t.test('serves a route only if its port is given', async (t) => {
  for (const [place, port] of (['registry', 'questions', 'verdicts'] as const).entries()) {
    const only: Partial<OperatorsOptions> = {}
    for (const name of ['registry', 'questions', 'verdicts', 'summoner']) {
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
  const { ports, get, log } = await build(t)
  for (const [kind, code] of [
    ['timeout', 'LAYER1_TIMEOUT'],
    ['rate limited', 'LAYER1_RATE_LIMITED'],
    ['unreachable', 'LAYER1_UNREACHABLE'],
  ] as const) {
    ports.failure = Object.assign(new Error(secret), { code, kind: secret })
    for (const path of ['/operators', '/summons']) {
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
  ports.failure = undefined
  for (const path of paths) t.equal((await get(path)).status, 200, 'the next request may succeed')
})

t.test('answers any other failure with a bare 500 and logs its cause', async (t) => {
  const { ports, get, log } = await build(t)
  ports.failure = Object.assign(new Error(secret), { statusCode: 404, code: '42P01' })
  for (const path of paths) {
    const answer = await get(path)
    t.equal(answer.status, 500, path)
    t.equal(answer.body, '{"error":"Something went wrong"}')
    t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { message: secret } })
  }
})

t.test('answers 500 for a port that gives nothing, and logs which one', async (t) => {
  for (const nothing of [undefined, null]) {
    const read = async () => nothing as never
    const { get, log } = await build(t, { registry: { read }, verdicts: { list: read } })
    for (const [path, message] of [
      ['/operators', 'registry.read() must resolve to Operators: Expected object'],
      ['/verdicts', 'verdicts.list() must resolve to BlockVerdicts: Expected object'],
    ] as const) {
      const answer = await get(path)
      t.equal(answer.status, 500, path)
      t.equal(answer.body, '{"error":"Something went wrong"}')
      t.match(log().at(-1), { level: 50, err: { type: 'TypeError', message } })
    }
  }
})

t.test('answers 500 for a port that gives something else, and logs the method and the field', async (t) => {
  const { ports, get, url, log } = await build(t)
  const [one] = [verdict(1)]
  for (const [change, path, message] of [
    [{ view: {} }, '/operators', 'registry.read() must resolve to Operators: turnEndsAt: Expected required'],
    [
      { view: { ...ports.view, operators: [{ operatorKey: hash28(1).subarray(1) }] } },
      '/operators',
      'registry.read() must resolve to Operators: operators.0.bond: Expected required',
    ],
    [{ open: [[{}]] }, '/summons', 'questions.read() must resolve to arrays of QuestionAnswer: 0.question: '],
    [
      { open: [[question(1, { kind: 'riddle' as never })]] },
      '/summons',
      'questions.read() must resolve to OpenQuestions: questions.0.kind: Expected one of chunk, ',
    ],
    [
      { found: [{ ...one, transactions: [undefined] }] },
      '/verdicts',
      'verdicts.list() must resolve to BlockVerdicts: verdicts.0.transactions.0: Expected object',
    ],
    [
      { found: [{ ...one, block: { ...one?.block, height: 5.5 } }] },
      '/verdicts',
      'verdicts.list() must resolve to BlockVerdicts: verdicts.0.height: Expected integer',
    ],
  ] as const) {
    Object.assign(ports, change)
    const { status, body } = await get(path)
    t.same([status, body], [500, '{"error":"Something went wrong"}'], message)
    const logged = log().at(-1)?.err?.message ?? ''
    t.ok(logged.startsWith(message), logged)
  }
  const [headers, body] = [
    { 'content-type': 'application/json' },
    JSON.stringify({ kind: 'chunk', chunk: 0, headerHash: hex28(1) }),
  ]
  for (const [outcome, message] of [
    [undefined, '{ kind: asked | absent | refused | busy }'],
    [{ kind: 'refused' }, '{ kind: refused }: reason: Expected required property'],
    [{ ...question(1), kind: 'asked', transactionId: 'ab' }, 'Summoned: txHash: Expected Uint8Array'],
  ] as const) {
    Object.assign(ports, { outcome })
    t.equal((await fetch(`${url}/summon`, { method: 'POST', headers, body })).status, 500)
    t.match(log().at(-1), { err: { message: `summoner.summon() must resolve to ${message}` } })
  }
})

t.test('answers 500 for more verdicts than the limit', async (t) => {
  const list = async () => ({ verdicts: [verdict(1), verdict(2)], hasMore: false })
  const { get, log } = await build(t, { verdicts: { list } })
  t.equal((await get('/verdicts?limit=1')).status, 500)
  t.match(log().at(-1), { err: { message: 'verdicts.list() must resolve to at most 1 entries' } })
})

t.test('serves HEAD like GET, forbids caches, and refuses unknown parameters of lists', async (t) => {
  const { get, head } = await build(t)
  for (const path of paths) {
    const [asked, headed] = [await get(path), await head(path)]
    t.equal(asked.status, 200)
    t.equal(asked.headers['cache-control'], 'no-store')
    t.same(headed, { ...asked, body: '' }, path)
  }
  for (const [path, names] of [
    ['/summons', 'header_hash, limit, offset'],
    ['/verdicts', 'state, limit, before'],
  ] as const) {
    const error = `Invalid parameter: page. Send only ${names}`
    t.match(await get(`${path}?page=7`), { status: 400, body: JSON.stringify({ error }) })
  }
})

t.test('aborts a read of its own when the client disconnects, without logging a failure', async (t) => {
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
    registry: { read },
    verdicts: { list: (_, signal) => read(signal) },
  })
  for (const path of ['/operators', '/verdicts']) {
    const called = once(calls, 'call')
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    const [signal] = await called
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

t.test(
  'serves two instances in one server, each under its prefix, and leaves its error handler',
  async (t) => {
    const server = fastify()
    t.teardown(() => server.close())
    server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
    server.get('/own', async () => {
      throw Object.assign(new Error('x'), { code: 'LAYER1_TIMEOUT' })
    })
    const [first, second] = [new Ports(), new Ports()]
    second.view = { ...second.view, permissioned: false }
    await server.register(operators, { prefix: '/first', ...first.ports })
    await server.register(operators, { prefix: '/second', ...second.ports })
    t.equal((await server.inject('/first/operators')).json().permissioned, true)
    t.equal((await server.inject('/second/operators')).json().permissioned, false)
    t.equal((await server.inject('/own')).statusCode, 418)
  },
)

t.test('throws at startup for options that cannot work', async (t) => {
  for (const [options, message] of [
    [{}, /one of registry, questions, verdicts, summoner is required/],
    [{ verdicts: {} }, /verdicts must be an object with the method list/],
  ] as const) {
    const server = fastify()
    await t.rejects(async () => server.register(operators, options as OperatorsOptions), { message })
    await server.close()
  }
})

t.test('documents every route and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(operators, new Ports().ports)
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
      post?.parameters?.map(({ name }) => name) ?? [],
      Object.keys(post?.responses ?? {}).join(' '),
    ]),
    [
      ['/operators', 'listOperators', [], '200 408 429 431 500 503'],
      ['/summons', 'listQuestions', ['header_hash', 'limit', 'offset'], '200 400 408 429 431 500 503'],
      ['/verdicts', 'listVerdicts', ['state', 'limit', 'before'], '200 400 408 429 431 500 503'],
      ['/summon', 'summon', [], '200 400 401 403 404 408 409 413 415 431 500 503'],
    ],
  )
  for (const { get, post = get } of Object.values(documented))
    for (const { description } of Object.values(post?.responses ?? {})) t.not(description, 'Default Response')
})
