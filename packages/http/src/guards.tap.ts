import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { bearerToken, errorHandler, httpErrors, noStore, sideEffectingGet } from './index.js'
import { exchange } from './test/exchange.js'

const unauthorized = '{"error":"Unauthorized"}'

/** A server with a guarded POST and a guarded GET that changes something; counts what got through. */
async function build(t: Test, token = 'open sesame') {
  const server = fastify({ bodyLimit: 64 })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  const done: string[] = []
  server.post('/claims', { onRequest: bearerToken(token) }, async () => {
    done.push('claim')
    return {}
  })
  server.get('/reset', sideEffectingGet(bearerToken(token)), async () => {
    done.push('reset')
    return {}
  })
  server.get('/tip', { onRequest: noStore }, async () => ({}))
  return { server, done }
}

t.test('the right token, its scheme in either case', async (t) => {
  const { server, done } = await build(t)
  for (const authorization of ['Bearer open sesame', 'bearer open sesame', 'BEARER  open sesame']) {
    const answer = await server.inject({ method: 'POST', url: '/claims', headers: { authorization } })
    t.equal(answer.statusCode, 200, authorization)
    t.equal(answer.headers['www-authenticate'], undefined)
  }
  t.same(done, ['claim', 'claim', 'claim'])
})

t.test('a missing or wrong token: 401, with what is asked for', async (t) => {
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

t.test('judged before the body', async (t) => {
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

t.test('a token beyond ASCII is compared as the bytes that are sent', async (t) => {
  const { server } = await build(t, 'schlüssel–鍵')
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const get = (token: string) =>
    exchange(
      port,
      `GET /reset HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${token}\r\n\r\n`,
    )
  t.equal((await get('schlüssel–鍵')).status, 200)
  t.equal((await get('schlüssel–鎖')).status, 401)
})

t.test('an empty token is no token', async (t) => {
  for (const token of ['', undefined]) {
    t.throws(() => bearerToken(token as string), { message: 'a bearer token must not be empty' })
  }
})

t.test('a GET that changes something: no HEAD, as for an unknown path', async (t) => {
  const { server, done } = await build(t)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const head = async (path: string) => {
    const headers = 'host: a\r\nconnection: close\r\nauthorization: Bearer open sesame'
    const answer = await exchange(port, `HEAD ${path} HTTP/1.1\r\n${headers}\r\n\r\n`)
    return { ...answer, head: answer.head.replace(/\r\ndate: [^\r]*/i, '') }
  }
  const unknown = await head('/nothing')
  t.equal(unknown.status, 404)
  t.same(await head('/reset'), unknown)
  t.equal((await head('/tip')).status, 200, 'a read keeps its HEAD')
  t.same(done, [])
})

t.test('a GET that changes something: refused where a browser says cross-site, token or not', async (t) => {
  const { server, done } = await build(t)
  const get = (site: string | undefined, authorization = 'Bearer open sesame') =>
    server.inject({
      url: '/reset',
      headers: { authorization, ...(site !== undefined && { 'sec-fetch-site': site }) },
    })
  for (const site of ['cross-site', 'Cross-Site']) {
    for (const authorization of ['Bearer open sesame', '']) {
      const answer = await get(site, authorization)
      t.equal(answer.statusCode, 403)
      t.equal(answer.body, '{"error":"Cross-site requests are refused"}')
    }
  }
  t.same(done, [])
  for (const site of ['same-origin', 'same-site', 'none', undefined]) {
    t.equal((await get(site)).statusCode, 200, String(site))
  }
  t.equal(done.length, 4)
})

t.test('what changes is not kept, refusals included', async (t) => {
  const { server } = await build(t)
  const authorization = 'Bearer open sesame'
  for (const request of [
    { url: '/reset', headers: { authorization } },
    { url: '/reset' },
    { url: '/reset', headers: { 'sec-fetch-site': 'cross-site' } },
    { url: '/tip' },
  ]) {
    t.equal((await server.inject(request)).headers['cache-control'], 'no-store')
  }
})

t.test('in a server that has its own errors, the plugin that brings the error handler answers', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  server.setErrorHandler((_error, _request, reply) => reply.code(418).send('mine'))
  await server.register(async (scope) => {
    scope.setErrorHandler(errorHandler)
    scope.get('/reset', sideEffectingGet(bearerToken('a')), async () => ({}))
  })
  const answer = await server.inject('/reset')
  t.equal(answer.statusCode, 401)
  t.equal(answer.body, unauthorized)
})
