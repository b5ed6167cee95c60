import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import t from 'tap'
import { bearerToken, operatorGuards } from './index.js'
import { build, unauthorized } from './test/guarded.js'

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
