import fastify from 'fastify'
import t, { type Test } from 'tap'
import {
  type ErrorBody,
  explainErrors,
  hasCode,
  httpErrorOptions,
  httpErrors,
  readTransactionBodies,
  transactionBody,
  transactionBodyResponses,
} from './index.js'

/** A server with a route that reads transactions, and one outside its scope. */
async function build(t: Test) {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(httpErrors)
  const codes: unknown[] = []
  explainErrors(server, (error) => void codes.push(hasCode(error, '') && error.code))
  await server.register(async (scope) => {
    scope.post(
      '/pay',
      {
        schema: { ...transactionBody, response: transactionBodyResponses() },
        ...readTransactionBodies(scope, { prefix: 'SHOP', maxSize: 4 }),
      },
      async ({ body }) => Buffer.from(body as Uint8Array).toString('hex'),
    )
  })
  server.post('/json', async ({ body }) => body)
  const post = (payload: string, type?: string, url = '/pay') =>
    server.inject({
      method: 'POST',
      url,
      ...(payload !== '' && { payload }),
      headers: { ...(type !== undefined && { 'content-type': type }) },
    })
  return { post, codes }
}

t.test('the handler receives the bytes of one item', async (t) => {
  const { post } = await build(t)
  for (const body of ['83010203', ' 83010203\r\n']) {
    const answer = await post(body, 'text/plain; charset=utf-8')
    t.same([answer.statusCode, answer.body], [200, '83010203'])
  }
})

t.test('each refusal says what is wrong, under a code of the caller', async (t) => {
  const { post, codes } = await build(t)
  const type = 'Unsupported Media Type: send the hex digits with the header Content-Type: text/plain'
  for (const [body, contentType, status, error, code] of [
    ['8', 'text/plain', 400, 'Invalid CBOR provided', 'SHOP_INVALID_CBOR'],
    ['8080', 'text/plain', 400, 'Invalid CBOR provided', 'SHOP_INVALID_CBOR'],
    ['8401020304', 'text/plain', 413, 'Request body is too large', 'SHOP_TOO_LARGE'],
    ['84'.repeat(1000), 'text/plain', 413, 'Request body is too large', 'SHOP_TOO_LARGE'],
    ['80', 'application/x-www-form-urlencoded', 415, type, 'SHOP_UNSUPPORTED_TYPE'],
    ['80', 'application/json', 415, type, 'SHOP_UNSUPPORTED_TYPE'],
    ['', undefined, 415, type, 'SHOP_UNSUPPORTED_TYPE'],
  ] as const) {
    const answer = await post(body, contentType)
    t.same([answer.statusCode, answer.json<ErrorBody>()], [status, { error }], `${contentType}: ${body}`)
    t.equal(codes.at(-1), code)
  }
})

t.test('other routes keep their parsers', async (t) => {
  const { post } = await build(t)
  t.same((await post('{"a":1}', 'application/json', '/json')).json(), { a: 1 })
  t.same((await post('<a/>', 'application/xml', '/json')).json(), { error: 'Unsupported Media Type' })
})
