import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import swagger from '@fastify/swagger'
import { golden } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import submit, { submit as named, type SubmitOptions } from './index.js'
import { accepted, build, Entries, failed } from './test/build.js'

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(submit, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/submit'))
})

t.test('answers as in the golden file', async (t) => {
  interface Case {
    readonly queue: 'accepts' | 'rejects'
    readonly contentType: string
    readonly payload: string
    readonly status: number
    readonly body: object
  }
  for (const { queue, contentType, payload, status, body } of golden<Case[]>(
    import.meta.url,
    'test/golden.json',
  )) {
    const entries = new Entries()
    const broken = { add: () => Promise.reject(new Error('unavailable')) }
    const { post } = await build(t, { queue: queue === 'accepts' ? entries : broken, maxTransactionSize: 8 })
    const response = await post(payload, contentType)
    const name = `${contentType} ${payload}, a queue that ${queue}`
    t.equal(response.statusCode, status, name)
    t.equal(response.body, JSON.stringify(body), name)
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    t.same(entries.entries, status === 200 ? [payload] : [], name)
  }
})

t.test('enqueues the same transaction twice: validation applies it once', async (t) => {
  const { post, queue } = await build(t)
  t.equal((await post('84a0a0f5f6')).body, accepted('entry-1'))
  t.equal((await post('84a0a0f5f6')).body, accepted('entry-2'))
  t.equal(queue.entries.length, 2)
})

t.test('answers 500 if the queue rejects, and logs the cause under the id of the request', async (t) => {
  const refusals: Record<string, SubmitOptions['queue']> = {
    rejects: { add: () => Promise.reject(new Error('ECONNREFUSED redis://:secret@10.0.0.1')) },
    throws: {
      add: () => {
        throw new Error('ECONNREFUSED redis://:secret@10.0.0.1')
      },
    },
    'poses as exposed': {
      add: () => Promise.reject(Object.assign(new Error('secret'), { expose: true, statusCode: 400 })),
    },
  }
  for (const [name, queue] of Object.entries(refusals)) {
    const { post, log } = await build(t, { queue })
    const response = await post('84a0a0f5f6')
    t.equal(response.statusCode, 500, name)
    t.equal(response.body, failed, name)
    const [line] = log().filter(({ level }) => level === 50)
    t.match(line, {
      msg: 'Failed to enqueue transaction',
      reqId: 'req-1',
      err: { code: 'SUBMIT_ENQUEUE_FAILED' },
    })
    t.match(line?.err?.stack, /secret/)
  }
})

t.test('logs what the queue rejects with, also if it is no error', async (t) => {
  for (const [cause, text] of [
    ['str', "'str'"],
    [undefined, 'undefined'],
    [{ code: 7 }, '{ code: 7 }'],
  ] as const) {
    const { post, log } = await build(t, { queue: { add: () => Promise.reject(cause) } })
    const response = await post('84a0a0f5f6')
    t.equal(response.statusCode, 500)
    t.equal(response.body, failed)
    const [line] = log()
    t.equal(line?.level, 50)
    t.ok(line?.err?.stack?.includes(`queue.add rejected with a value that is no error: ${text}`), text)
  }
})

t.test('answers 500 if the queue returns no id, and the log says which method must return one', async (t) => {
  for (const id of [null, undefined, '', 7]) {
    const { post, log } = await build(t, { queue: { add: async () => id as string } })
    const response = await post('84a0a0f5f6')
    t.equal(response.statusCode, 500, String(id))
    t.equal(response.body, failed)
    const [line] = log().filter(({ level }) => level === 50)
    t.match(line?.err?.stack, /TypeError: queue\.add must resolve to the id of the entry, a string/)
  }
})

t.test('answers with the Retry-After that the error of the queue asks for', async (t) => {
  for (const [retryAfterMs, header] of [
    [1, '1'],
    [2500, '3'],
    [0, undefined],
    [-1, undefined],
    ['5000', undefined],
  ] as const) {
    const full = Object.assign(new Error('full'), { code: 'QUEUE_FULL', retryAfterMs })
    const { post } = await build(t, { queue: { add: () => Promise.reject(full) } })
    const response = await post('84a0a0f5f6')
    t.equal(response.statusCode, 500)
    t.equal(response.body, failed)
    t.equal(response.headers['retry-after'], header, String(retryAfterMs))
  }
})

t.test('serves POST only', async (t) => {
  const { server } = await build(t)
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'] as const) {
    t.equal((await server.inject({ method, url: '/submit' })).statusCode, 404, method)
  }
})

t.test('serves several instances in one server, each with its prefix, queue and limit', async (t) => {
  const [first, second] = [new Entries(), new Entries()]
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(submit, { prefix: '/first', queue: first })
  await server.register(submit, { prefix: '/second', queue: second, maxTransactionSize: 4 })
  const post = (url: string) =>
    server.inject({ method: 'POST', url, headers: { 'content-type': 'text/plain' }, payload: '84a0a0f5f6' })
  t.equal((await post('/first/submit')).statusCode, 200)
  t.equal((await post('/second/submit')).statusCode, 413)
  t.equal((await post('/submit')).statusCode, 404)
  t.equal(first.entries.length, 1)
  t.equal(second.entries.length, 0)
})

t.test("answers a rate limit and an overload of a host as the host's own routes do", async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  let refusal: Error = Object.assign(new Error('Rate limit exceeded'), { statusCode: 429 })
  server.addHook('onRequest', async (_request, reply) => {
    reply.header('retry-after', '60')
    throw refusal
  })
  const queue = new Entries()
  const pressures: unknown[] = []
  server.addHook('onRoute', ({ config = {} }) => {
    if ('pressureHandler' in config) pressures.push(config.pressureHandler)
  })
  await server.register(submit, { queue })
  const post = () =>
    server.inject({
      method: 'POST',
      url: '/submit',
      headers: { 'content-type': 'text/plain' },
      payload: '80',
    })
  const limited = await post()
  t.same([limited.statusCode, limited.json()], [429, { error: 'Rate limit exceeded' }])
  t.equal(limited.headers['retry-after'], '60')
  refusal = Object.assign(new Error('heap used'), { statusCode: 503, code: 'FST_UNDER_PRESSURE' })
  const overloaded = await post()
  t.same([overloaded.statusCode, overloaded.json()], [503, { error: 'Service Unavailable' }])
  t.equal(overloaded.headers['retry-after'], '60')
  t.same(pressures, [], 'the answer of the host is not replaced')
  t.same(queue.entries, [])
})

t.test('leaves the parsers and the error handler of the server unchanged', async (t) => {
  const { server } = await build(t)
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  server.post('/json', async (request) => request.body)
  const json = await server.inject({ method: 'POST', url: '/json', payload: { a: 1 } })
  t.same(json.json(), { a: 1 })
  const broken = await server.inject({
    method: 'POST',
    url: '/json',
    headers: { 'content-type': 'application/json' },
    payload: '{',
  })
  t.equal(broken.statusCode, 418)
})

t.test('throws at startup for options that cannot work', async (t) => {
  for (const [options, message] of [
    [{}, /queue must be an object with the method add/],
    [{ queue: {} }, /queue must be an object with the method add/],
    [{ queue: new Entries(), maxTransactionSize: 0 }, /maxTransactionSize must be a whole number from 1/],
    [{ queue: new Entries(), maxTransactionSize: 1.5 }, /maxTransactionSize must be a whole number from 1/],
    [
      { queue: new Entries(), maxTransactionSize: Number.NaN },
      /maxTransactionSize must be a whole number from 1/,
    ],
  ] as const) {
    const server = fastify()
    await t.rejects(async () => server.register(submit, options as SubmitOptions), { message })
    await server.close()
  }
})

t.test('documents the route, its body and every status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(submit, { queue: new Entries() })
  await server.ready()
  const { paths } = server.swagger()
  t.same(Object.keys(paths ?? {}), ['/submit'])
  const operation = paths?.['/submit']?.post
  t.match(operation, {
    requestBody: { content: { 'text/plain': { schema: { type: 'string' } } }, required: true },
  })
  t.equal(Object.keys(operation?.responses ?? {}).join(' '), '200 400 408 413 415 429 431 500 503')
})

const invalid = '{"error":"Invalid CBOR provided"}'
const tooLarge = '{"error":"Request body is too large"}'
const acceptedAnswer = '{"message":"Successfully added the transaction to the queue","id":"1"}'

/** A listening server with the plugin only. */
async function listen(t: Test) {
  const server = fastify()
  t.teardown(() => server.close())
  const entries: string[] = []
  await server.register(submit, {
    queue: { add: async (cbor) => String(entries.push(Buffer.from(cbor).toString('hex'))) },
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  return { port: (server.server.address() as AddressInfo).port, entries }
}

/** Posts pieces as chunks, or as one body with its length. */
async function post(port: number, pieces: readonly string[], headers: Record<string, string | number>) {
  const outgoing = request({ host: '127.0.0.1', port, path: '/submit', method: 'POST', headers })
  for (const piece of pieces) outgoing.write(piece)
  outgoing.end()
  const [incoming] = await once(outgoing, 'response')
  let body = ''
  incoming.setEncoding('utf8')
  for await (const chunk of incoming) body += chunk
  return { status: incoming.statusCode, body, headers: incoming.headers }
}

t.test('accepts a body in chunks that split bytes and digits', async (t) => {
  const { port, entries } = await listen(t)
  const answer = await post(port, ['8', '4a0', 'a0f', '5f6', '\r', '\n'], { 'content-type': 'text/plain' })
  t.equal(answer.status, 200)
  t.equal(answer.body, acceptedAnswer)
  t.same(entries, ['84a0a0f5f6'])
})

t.test('refuses a body that exceeds the limit while it arrives', async (t) => {
  const { port, entries } = await listen(t)
  const pieces = Array.from({ length: 64 }, () => 'ab'.repeat(8192))
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'text/plain', 'content-length': 64 * 16_384 },
  ]) {
    const answer = await post(port, pieces, headers)
    t.equal(answer.status, 413)
    t.equal(answer.body, tooLarge)
  }
  t.same(entries, [])
})

t.test('refuses a content length over the limit before the body arrives', async (t) => {
  const { port } = await listen(t)
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'POST /submit HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 99999999\r\n\r\n',
  )
  const [answer] = await once(socket.setEncoding('utf8'), 'data')
  t.match(answer, /^HTTP\/1\.1 413 /)
  t.match(answer, tooLarge)
  socket.destroy()
})

t.test('keeps the connection open after a refused transaction', async (t) => {
  const { port } = await listen(t)
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let answers = ''
  const send = async (body: string, until: string) => {
    socket.write(
      'POST /submit HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: ' +
        `${body.length}\r\n\r\n${body}`,
    )
    while (!answers.includes(until)) answers += (await once(socket, 'data'))[0]
  }
  await send('zz', invalid)
  await send('84a0a0f5f6', acceptedAnswer)
  t.notMatch(answers, /connection: close/i)
  socket.destroy()
})
