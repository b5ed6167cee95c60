import { type AddressInfo, connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { exchange, recordedLog } from '@ratatosk/test-kit/http'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { addVary, BusyError, HttpError, httpErrorOptions, httpErrors } from './index.js'

const notFound = '{"error":"Not Found","code":"DISABLED"}'
const somethingWentWrong = '{"error":"Something went wrong"}'

/** A server with the errors of this package; its log is recorded. */
async function build(t: Test, routes: (server: FastifyInstance) => void = () => undefined) {
  const log = recordedLog()
  const server = fastify({
    ...httpErrorOptions,
    bodyLimit: 1024,
    logger: { level: 'debug', stream: log.stream },
  })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  server.post('/echo', (request, reply) => reply.send({ body: request.body }))
  routes(server)
  return { server, log }
}

async function listen(server: FastifyInstance): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 })
  return (server.server.address() as AddressInfo).port
}

t.test('answers an unknown path and an unserved method with the same 404, byte for byte', async (t) => {
  const { server } = await build(t)
  for (const [method, url] of [
    ['GET', '/nothing'],
    ['GET', '/'],
    ['GET', '/echo'],
    ['DELETE', '/echo'],
    ['PUT', '/echo'],
    ['OPTIONS', '/echo'],
    ['POST', '/nothing'],
  ] as const) {
    const response = await server.inject({ method, url })
    t.equal(response.statusCode, 404, `${method} ${url}`)
    t.equal(response.body, notFound)
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }
  const head = await server.inject({ method: 'HEAD', url: '/nothing' })
  t.equal(head.statusCode, 404)
})

t.test('answers 404 to an unknown path even if the body does not parse', async (t) => {
  const { server } = await build(t)
  for (const [type, payload] of [
    ['application/json', '{'],
    ['application/json', ''],
    ['application/json', `"${'x'.repeat(2000)}"`],
    ['application/xml', '<a/>'],
    ['nonsense', 'x'],
  ] as const) {
    const response = await server.inject({
      method: 'POST',
      url: '/nothing',
      headers: { 'content-type': type },
      payload,
    })
    t.equal(response.statusCode, 404, type)
    t.equal(response.body, notFound)
  }
})

t.test('names what a parser refused', async (t) => {
  const { server } = await build(t)
  const post = (type: string, payload: string) =>
    server.inject({ method: 'POST', url: '/echo', headers: { 'content-type': type }, payload })

  const json = await post('application/json', '{')
  t.equal(json.statusCode, 400)
  t.same(json.json(), { error: "Body is not valid JSON but content-type is set to 'application/json'" })

  const large = await post('application/json', `"${'x'.repeat(2000)}"`)
  t.equal(large.statusCode, 413)
  t.same(large.json(), { error: 'Request body is too large' })

  const type = await post('application/xml', '<a/>')
  t.equal(type.statusCode, 415)
  t.same(type.json(), { error: 'Unsupported Media Type' })

  const url = await server.inject('/%zz')
  t.equal(url.statusCode, 400)
  t.same(url.json(), { error: "'/%zz' is not a valid url component" })
})

t.test('refuses a body that is encoded, rather than read it as it is', async (t) => {
  const { server } = await build(t)
  const post = (encoding: string, payload: string | Buffer = 'text', url = '/echo') =>
    server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'text/plain', 'content-encoding': encoding },
      payload,
    })
  for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'GZIP', 'x']) {
    const refused = await post(encoding, gzipSync('text'))
    t.equal(refused.statusCode, 415, encoding)
    t.equal(refused.headers['accept-encoding'], 'identity')
    t.same(refused.json(), {
      error: 'Unsupported Media Type: send the body as it is, without the header Content-Encoding',
    })
  }
  for (const encoding of ['identity', 'Identity ', ''])
    t.not((await post(encoding)).statusCode, 415, encoding)
  t.equal((await post('gzip', 'text', '/nothing')).statusCode, 404)
})

t.test('answers in JSON what fails before a request exists', async (t) => {
  const { server } = await build(t)
  const port = await listen(server)
  const post = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n'
  for (const [name, request, status, error] of [
    ['no HTTP', 'what is this\r\n\r\n', 400, 'Bad Request'],
    ['unknown method', 'BREW / HTTP/1.1\r\nhost: a\r\n\r\n', 400, 'Bad Request'],
    ['unknown protocol', 'GET /tx?id=a HTTQ/1.1\r\nhost: a\r\n\r\n', 400, 'Bad Request'],
    ['a space in a path', 'GET /a b HTTP/1.1\r\nhost: a\r\n\r\n', 400, 'Bad Request'],
    [
      'a space in a parameter',
      'GET /tx?a=1&tx_hash=a b HTTP/1.1\r\nhost: a\r\n\r\n',
      400,
      'Bad Request: percent-encode the value of tx_hash',
    ],
    [
      'a letter that is not ASCII',
      'GET /utxos?address=ä&limit=1 HTTP/1.1\r\nhost: a\r\n\r\n',
      400,
      'Bad Request: percent-encode the value of address',
    ],
    [
      'large headers',
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
    ],
    ['chunk extensions', `${post}\r\n2;${'a'.repeat(20_000)}\r\n`, 413, 'Payload Too Large'],
    ['no Host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'Missing Host header'],
    [
      'expectation',
      'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: miracles\r\n\r\n',
      417,
      'Expectation Failed',
    ],
  ] as const) {
    const answer = await exchange(port, request)
    t.equal(answer.status, status, name)
    t.equal(answer.body, JSON.stringify({ error }), name)
    t.match(answer.head, /content-type: application\/json/i, name)
  }
  const old = await exchange(port, 'GET / HTTP/1.0\r\n\r\n')
  t.equal(old.status, 404, 'HTTP/1.0 has no Host')
})

t.test('answers 408 to a request that does not end', async (t) => {
  const server = fastify({
    ...httpErrorOptions,
    requestTimeout: 50,
    http: { ...httpErrorOptions.http, connectionsCheckingInterval: 10, headersTimeout: 50 },
  })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  server.post('/echo', (request, reply) => reply.send({ body: request.body }))
  const port = await listen(server)

  const headers = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n'
  for (const request of [headers, `${headers}\r\nabc`]) {
    const answer = await exchange(port, request)
    t.equal(answer.status, 408)
    t.equal(answer.body, '{"error":"Request Timeout"}')
  }
})

t.test('sends no 408 into a response that is half sent', async (t) => {
  const server = fastify({
    ...httpErrorOptions,
    requestTimeout: 50,
    http: { ...httpErrorOptions.http, connectionsCheckingInterval: 10, headersTimeout: 50 },
  })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  server.get('/half', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-length': 100 })
    reply.raw.write('half')
  })
  const port = await listen(server)
  const answer = await exchange(port, 'GET /half HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n')
  t.equal(answer.status, 200)
  t.equal(answer.body, 'half')
})

t.test('does not log an error when a client disconnects during its body', async (t) => {
  let failed: (error: unknown) => void = () => undefined
  const failure = new Promise<unknown>((resolve) => {
    failed = resolve
  })
  const { server, log } = await build(t, (server) => {
    server.addHook('onError', async (_request, _reply, error) => failed(error))
  })
  const port = await listen(server)
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nabc')
    setImmediate(() => socket.destroy())
  })
  t.match(await failure, { code: 'ECONNRESET' })
  t.notOk(log.records().some(({ level }) => level >= 50))
})

t.test('answers an HttpError with its status, message and headers', async (t) => {
  const { server, log } = await build(t, (server) => {
    server.get('/teapot', () => {
      throw new HttpError(418, 'TEST_TEAPOT', 'Short and stout', { cause: new Error('inner') })
    })
    server.get('/away', async () => {
      throw new HttpError(503, 'TEST_AWAY', 'Come back later', {
        cause: new Error('the secret reason'),
        headers: { 'retry-after': '7' },
      })
    })
  })
  const teapot = await server.inject('/teapot')
  t.equal(teapot.statusCode, 418)
  t.equal(teapot.body, '{"error":"Short and stout"}')

  const away = await server.inject('/away')
  t.equal(away.statusCode, 503)
  t.equal(away.body, '{"error":"Come back later"}')
  t.equal(away.headers['retry-after'], '7')

  const logged = log.records().filter(({ level }) => level === 50)
  t.equal(logged.length, 1, 'only the failure of the server is logged as an error')
  t.match(logged[0], {
    msg: 'Come back later',
    reqId: 'req-2',
    err: { message: /the secret reason/, code: 'TEST_AWAY' },
  })
})

t.test('logs an expected refusal once, without a stack', async (t) => {
  const full = Object.assign(new Error('10 wait'), { retryAfterMs: 2000 })
  const refusals: Record<string, Error> = {
    busy: new BusyError('TEST_BUSY', 'Too many: retry later'),
    full: new HttpError(500, 'TEST_FULL', 'Not taken', { cause: full }),
    foreign: Object.assign(new Error('Another package'), { expose: true, statusCode: 503 }),
  }
  const { server, log } = await build(t, (server) => {
    server.get<{ Params: { name: string } }>('/:name', async ({ params }) => {
      throw refusals[params.name]
    })
  })
  for (const name of Object.keys(refusals)) await server.inject(`/${name}`)
  const logged = log.records().filter(({ level }) => level >= 40)
  t.match(logged, [
    { level: 40, msg: 'Too many: retry later', code: 'TEST_BUSY', reqId: 'req-1' },
    { level: 40, msg: 'Not taken', code: 'TEST_FULL', reason: '10 wait' },
    { level: 40, msg: 'Another package' },
  ])
  t.equal(logged.length, 3)
  t.notOk(logged.some(({ err }) => err))
})

t.test(
  'answers any other error with a bare 500 and logs its cause under the id of the request',
  async (t) => {
    const thrown: Record<string, unknown> = {
      plain: new Error('connection to 10.0.0.1 refused'),
      'of a provider': Object.assign(new Error('project token abc rejected'), {
        statusCode: 403,
        status: 403,
      }),
      'with a code': Object.assign(new Error('relation "x" does not exist'), { code: '42P01' }),
      'posing as exposed': Object.assign(new Error('secret'), { expose: true, statusCode: 200 }),
      'a string': 'secret',
      null: null,
    }
    const { server, log } = await build(t, (server) => {
      server.get<{ Params: { name: string } }>('/fail/:name', async (request) => {
        throw thrown[request.params.name]
      })
    })
    for (const name of Object.keys(thrown)) {
      log.lines.length = 0
      const response = await server.inject(`/fail/${name}`)
      t.equal(response.statusCode, 500, name)
      t.equal(response.body, somethingWentWrong, name)
      const [line] = log.records().filter(({ level }) => level === 50)
      t.match(line?.reqId, /^req-/, name)
    }
    log.lines.length = 0
    await server.inject('/fail/plain')
    t.match(log.records().find(({ level }) => level === 50)?.err?.message, 'connection to 10.0.0.1 refused')
  },
)

t.test('keeps the status and the headers of what a hook throws, not of what a handler throws', async (t) => {
  const refusal = () =>
    Object.assign(new Error('Rate limit exceeded'), { statusCode: 429, headers: { 'retry-after': '60' } })
  const { server } = await build(t, (server) => {
    const refuse = async () => {
      throw refusal()
    }
    server.get('/hook', { onRequest: refuse }, async () => 'done')
    server.get('/handler', refuse)
    server.get('/sent', (_request, reply) => reply.send(refusal()))
  })
  for (const method of ['GET', 'HEAD'] as const) {
    const refused = await server.inject({ method, url: '/hook' })
    t.same([refused.statusCode, refused.headers['retry-after']], [429, '60'], method)
    if (method === 'GET') t.same(refused.json(), { error: 'Rate limit exceeded' })
  }
  for (const url of ['/handler', '/sent']) {
    const failed = await server.inject(url)
    t.same([failed.statusCode, failed.body], [500, somethingWentWrong], url)
  }
})

t.test('keeps the status of Fastify errors above 500, not their message', async (t) => {
  const overloaded = Object.assign(new Error('event loop delay of 1s'), {
    code: 'FST_UNDER_PRESSURE',
    statusCode: 503,
  })
  const { server } = await build(t, (server) => {
    server.get('/busy', async () => {
      throw overloaded
    })
    server.get(
      '/broken',
      { schema: { response: { 200: { type: 'object', required: ['a'] } } } },
      async () => ({}),
    )
  })
  const busy = await server.inject('/busy')
  t.equal(busy.statusCode, 503)
  t.equal(busy.body, '{"error":"Service Unavailable"}')
  const broken = await server.inject('/broken')
  t.equal(broken.statusCode, 500)
  t.equal(broken.body, somethingWentWrong)
})

t.test('adds a field to Vary once, and keeps those of others', async (t) => {
  for (const [before, after] of [
    [undefined, 'accept'],
    ['Origin', 'Origin, accept'],
    ['Origin, Accept', 'Origin, Accept'],
    [['Origin', 'Cookie'], 'Origin, Cookie, accept'],
    ['*', '*'],
  ] as const) {
    const server = fastify()
    t.teardown(() => server.close())
    server.get('/', async (_request, reply) => {
      if (before !== undefined) reply.header('vary', before)
      return addVary(reply, 'accept').send({})
    })
    t.equal([(await server.inject('/')).headers.vary].flat().join(', '), after, String(before))
  }
})
