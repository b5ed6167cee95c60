import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { ask, browserAttacks, exchange, listening } from '@ratatosk/test-kit/http'
import fastify, { type FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import {
  bearerToken,
  errorHandler,
  httpErrors,
  noStore,
  type OperatorAccess,
  operatorGuards,
  operatorRoute,
  sideEffectingGet,
} from './index.js'

const unauthorized = '{"error":"Unauthorized"}'
const crossSite = '{"error":"Cross-site requests are refused"}'
const hostNotAllowed =
  '{"error":"Host not allowed: use a loopback address or a host name that the server is configured for"}'
const authorization = 'Bearer open sesame'

/** A server with a guarded POST, a GET that changes state and a debug GET; records what reached a handler. */
async function build(
  t: Test,
  access: OperatorAccess = { operatorToken: 'open sesame' },
  options: FastifyServerOptions = {},
) {
  const server = fastify({ bodyLimit: 64, ...options })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  const done: string[] = []
  server.post('/claims', { onRequest: bearerToken(access.operatorToken ?? 'open sesame') }, async () => {
    done.push('claim')
    return {}
  })
  server.get('/reset', sideEffectingGet(access), async () => {
    done.push('reset')
    return {}
  })
  server.get('/globals', { onRequest: operatorGuards(access) }, async () => {
    done.push('globals')
    return {}
  })
  server.get('/tip', { onRequest: noStore }, async () => ({}))
  return { server, done }
}

// The route below does nothing.
ignoreAnswers('/reset')

t.test('answers HEAD on a GET that changes state like an unknown path', async (t) => {
  const { server, done } = await build(t)
  const { port } = await listening(server)
  const head = async (path: string) => {
    const headers = `host: localhost\r\nconnection: close\r\nauthorization: ${authorization}`
    const answer = await exchange(port, `HEAD ${path} HTTP/1.1\r\n${headers}\r\n\r\n`)
    return { ...answer, head: answer.head.replace(/\r\ndate: [^\r]*/i, '') }
  }
  const unknown = await head('/nothing')
  t.equal(unknown.status, 404)
  t.same(await head('/reset'), unknown)
  t.equal((await head('/tip')).status, 200, 'a read keeps its HEAD')
  t.same(done, [])
})

t.test('keeps hostile web pages out, with and without the token', async (t) => {
  for (const access of [
    {},
    { operatorToken: 'open sesame' },
    { allowedHosts: ['node.example', '0.0.0.0'] },
  ]) {
    const { server, done } = await build(t, access)
    const { url, port } = await listening(server)
    for (const { name, path = (route: string) => route, headers, ...question } of browserAttacks(port)) {
      for (const route of ['/reset', '/globals']) {
        const answer = await ask(url + path(route), { ...question, headers: { ...headers, authorization } })
        t.equal(answer.status, question.method ? 404 : 403, `${name}: ${route}`)
        t.notOk('access-control-allow-origin' in answer.headers)
        if (answer.status === 403) {
          t.ok([crossSite, hostNotAllowed].includes(answer.body), answer.body)
          t.equal(answer.headers['cache-control'], 'no-store')
        }
      }
    }
    t.same(done, [], 'no handler ran')
  }
})

t.test('reads the host that a request of HTTP/2 names', async (t) => {
  const http2: object = { http2: true }
  const server = fastify(http2)
  server.get('/globals', { onRequest: operatorGuards({}) }, async () => ({}))
  const session = connectHttp2(await server.listen({ port: 0, host: '127.0.0.1' }))
  t.teardown(async () => {
    session.close()
    await server.close()
  })
  const statusOf = async (authority: string) => {
    const stream = session.request({ ':path': '/globals', ':authority': authority }).resume()
    const [headers] = await once(stream, 'response')
    return headers[':status']
  }
  t.equal(await statusOf('localhost'), 200)
  t.equal(await statusOf('rebound.example'), 403)
})

t.test('serves an own page, the address bar and clients that are no browser', async (t) => {
  const { server, done } = await build(t, { allowedHosts: ['Node.Example', '192.168.1.20', '2001:db8::1'] })
  const { url, port } = await listening(server)
  const browser = { 'user-agent': 'Mozilla/5.0' }
  const served: Record<string, string>[] = [
    { host: `localhost:${port}` },
    { host: `LOCALHOST:${port}` },
    { host: `127.0.0.1:${port}` },
    { host: '127.0.0.1' },
    { host: `127.1.2.3:${port}` },
    { host: `[::1]:${port}` },
    { host: '[0:0:0:0:0:0:0:1]' },
    { host: 'node.example' },
    { host: 'NODE.example:8443' },
    { host: '192.168.1.20:3000' },
    { host: '[2001:DB8::1]:3000' },
    { ...browser, host: `localhost:${port}`, 'sec-fetch-site': 'none' },
    { ...browser, host: `localhost:${port}`, 'sec-fetch-site': 'same-origin' },
    { ...browser, host: `127.0.0.1:${port}`, 'sec-fetch-site': 'Same-Origin', referer: `${url}/console` },
    { ...browser, host: `localhost:${port}`, origin: `http://localhost:${port}` },
    { ...browser, host: `localhost:${port}`, referer: `http://localhost:${port}/console` },
    { ...browser, host: 'node.example', origin: 'https://node.example', 'sec-fetch-site': 'same-origin' },
    { host: `localhost:${port}`, 'user-agent': 'curl/8.5.0' },
    { host: `localhost:${port}`, 'user-agent': 'node', 'sec-fetch-mode': 'cors' },
  ]
  for (const headers of served) {
    t.equal((await ask(`${url}/reset`, { headers })).status, 200, JSON.stringify(headers))
  }
  t.equal(done.length, served.length)
})

t.test('a link that a browser opens changes nothing, but may be read', async (t) => {
  for (const access of [{}, { operatorToken: 'open sesame' }]) {
    const { server, done } = await build(t, access)
    const { url, port } = await listening(server)
    const link = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const headers = { host: `127.0.0.1:${port}`, 'user-agent': 'Mozilla/5.0', ...link, authorization }
    const answer = await ask(`${url}/reset`, { headers })
    t.equal(answer.status, 403)
    t.match(JSON.parse(answer.body), { error: /^A link must not do this/ })
    t.equal((await ask(`${url}/globals`, { headers })).status, 200)
    t.same(done, ['globals'])
  }
})

t.test('refuses hosts that are not configured, and hosts that do not parse', async (t) => {
  const { server, done } = await build(t, { allowedHosts: ['node.example', '::', '0.0.0.0'] })
  const { url } = await listening(server)
  for (const host of [
    'evil.example',
    'node.example.',
    'node.example.evil.example',
    'evil-node.example',
    'localhost.',
    'localhost.evil.example',
    'a.localhost',
    '10.0.0.1',
    '128.0.0.1',
    '0.0.0.0',
    '[::]',
    '[::1',
    'localhost@evil.example',
    'evil.example#localhost',
    'localhost:99999',
    'localhost:x',
    'local host',
  ]) {
    const answer = await ask(`${url}/reset`, { headers: { host } })
    t.equal(answer.status, 403, host)
    t.equal(answer.body, hostNotAllowed, host)
  }
  const { port } = new URL(url)
  for (const head of ['GET /reset HTTP/1.0', 'GET /reset HTTP/1.1\r\nconnection: close\r\nhost:']) {
    t.equal((await exchange(Number(port), `${head}\r\n\r\n`)).status, 403, head)
  }
  t.same(done, [])
})

t.test('behind a trusted proxy, checks the forwarded host too', async (t) => {
  const { server, done } = await build(t, { allowedHosts: ['node.example'] }, { trustProxy: true })
  const { url, port } = await listening(server)
  const host = `127.0.0.1:${port}`
  const get = async (headers: Record<string, string>) => (await ask(`${url}/reset`, { headers })).status
  const own = { 'x-forwarded-host': 'node.example', origin: 'https://node.example' }
  t.equal(await get({ host, ...own, 'sec-fetch-site': 'same-origin' }), 200)
  t.equal(await get({ host, ...own, 'x-forwarded-host': 'evil.example' }), 403)
  t.equal(await get({ host, ...own, origin: 'https://evil.example' }), 403)
  t.equal(await get({ host: 'evil.example', 'x-forwarded-host': 'node.example' }), 403, 'rebinding')
  t.same(done, ['reset'])
})

t.test('refuses malformed host names at startup', async (t) => {
  t.throws(() => operatorGuards({ allowedHosts: 'node.example' as unknown as string[] }), {
    message: 'allowedHosts must be an array of host names',
  })
  for (const host of [
    '',
    'http://node.example',
    'node.example:3000',
    'node.example:80',
    '[::1]:80',
    'a/b',
    'a b',
    '*',
  ]) {
    t.throws(
      () => operatorGuards({ allowedHosts: [host] }),
      { message: `not a host name or IP address without port: ${host}` },
      host,
    )
  }
})

t.test('forbids storing answers that change, refusals included', async (t) => {
  const { server } = await build(t)
  for (const request of [
    { url: '/reset', headers: { authorization } },
    { url: '/reset' },
    { url: '/reset', headers: { 'sec-fetch-site': 'cross-site' } },
    { url: '/reset', headers: { host: 'evil.example' } },
    { url: '/tip' },
  ]) {
    t.equal((await server.inject(request)).headers['cache-control'], 'no-store')
  }
})

t.test('marks the routes of an operator as closed to other origins', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  const configs: Record<string, unknown> = {}
  server.addHook('onRoute', ({ url, config }) => {
    configs[url] = config
  })
  server.get('/reset', sideEffectingGet(), async () => ({}))
  server.get('/globals', { ...operatorRoute({ operatorToken: 'a' }) }, async () => ({}))
  server.get('/tip', async () => ({}))
  t.match(configs, { '/reset': { cors: false }, '/globals': { cors: false } })
  t.notMatch(configs['/tip'], { cors: false })
  t.equal((await server.inject('/globals')).statusCode, 401)
})

t.test('answers through the error handler of the plugin, whatever that of the server', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  await server.register(async (scope) => {
    scope.setErrorHandler(errorHandler)
    scope.get('/reset', sideEffectingGet({ operatorToken: 'a' }), async () => ({}))
  })
  const answer = await server.inject('/reset')
  t.equal(answer.statusCode, 401)
  t.equal(answer.body, unauthorized)
})

// The route below does nothing.
ignoreAnswers('/reset')

t.test('accepts the right token, with the scheme in either case', async (t) => {
  const { server, done } = await build(t)
  for (const authorization of ['Bearer open sesame', 'bearer open sesame', 'BEARER  open sesame']) {
    const answer = await server.inject({ method: 'POST', url: '/claims', headers: { authorization } })
    t.equal(answer.statusCode, 200, authorization)
    t.equal(answer.headers['www-authenticate'], undefined)
  }
  t.same(done, ['claim', 'claim', 'claim'])
})

t.test('answers 401 with WWW-Authenticate to a missing or wrong token', async (t) => {
  const { server, done } = await build(t)
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'open sesame',
    'Bearer open',
    'Bearer open sesame!',
    'Bearer Open Sesame',
    'Bearer "open sesame"',
    'Beareropen sesame',
    'Basic open sesame',
    'Basic b3BlbiBzZXNhbWU=',
    'Bearer Bearer open sesame',
    `Bearer ${'x'.repeat(10_000)}`,
  ]) {
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await server.inject({ method: 'POST', url: '/claims', headers })
    t.equal(answer.statusCode, 401, String(authorization))
    t.equal(answer.body, unauthorized)
    t.equal(answer.headers['www-authenticate'], 'Bearer')
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  }
  const elsewhere = await server.inject({
    method: 'POST',
    url: '/claims?access_token=open%20sesame',
    headers: { cookie: 'token=open sesame', 'x-authorization': 'Bearer open sesame' },
  })
  t.equal(elsewhere.statusCode, 401)
  t.same(done, [])
})

t.test('checks the token before the body', async (t) => {
  const { server } = await build(t)
  for (const [type, payload] of [
    ['application/json', '{'],
    ['application/json', `"${'x'.repeat(100)}"`],
    ['application/xml', '<a/>'],
    ['nonsense', 'x'],
  ] as const) {
    const answer = await server.inject({
      method: 'POST',
      url: '/claims',
      headers: { 'content-type': type },
      payload,
    })
    t.equal(answer.statusCode, 401, payload)
    t.equal(answer.body, unauthorized)
  }
  await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  socket.write(
    'POST /claims HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n',
  )
  const [answer] = await once(socket, 'data')
  t.match(answer, /^HTTP\/1\.1 401 /, 'the body has not been sent yet')
})

t.test('refuses a token that no client can send, at startup', async (t) => {
  const message = /^a bearer token must be a text of ASCII characters that is not empty/
  for (const token of ['', undefined, ' a', 'a\n', 'schlüssel', '鍵'])
    t.throws(() => bearerToken(token as string), { message })
  t.throws(() => operatorGuards({ operatorToken: '' }), { message })
})
