import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { mock } from 'node:test'
import swagger from '@fastify/swagger'
import { httpErrorOptions, httpErrors, OverloadedError } from '@ratatosk/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import faucet, { type ClaimResult, type FaucetOptions, faucet as named } from './index.js'
import { addressText, build, claimBody, enterprise, funded, token } from './test/build.js'

const hash = Buffer.alloc(28, 0x11)
const unauthorized = '{"error":"Unauthorized"}'

t.test('is exported by default and by name and registers under its npm name', async (t) => {
  t.equal(faucet, named)
  const { server } = await build(t)
  t.ok(server.hasPlugin('@ratatosk/faucet'))
})

t.test('answers a paid claim with its four fields in order', async (t) => {
  const { post, asked } = await build(t)
  const answer = await post(claimBody)
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(
    answer.body,
    '{"claimId":"0b7f5c1e-6c5e-4d5c-9a34-0f6b1f8b7a11",' +
      `"txHash":"${'ab'.repeat(32)}","amount":"100000000","nextEligibleAt":"2026-11-22T12:00:00.000Z"}`,
  )
  t.same(asked, [
    { idempotencyKey: 'key', ipHash: 'ip', address: Uint8Array.from(Buffer.concat([Buffer.of(0x60), hash])) },
  ])
})

t.test('names the layer on which it pays, if the option names it', async (t) => {
  for (const layer of [1, 2] as const) {
    const { post } = await build(t, { layer })
    const answer = await post(claimBody)
    t.match(answer.body, new RegExp(`"nextEligibleAt":"2026-11-22T12:00:00.000Z","layer":${layer}}$`))
  }
})

t.test('answers every other result with its status, code and message', async (t) => {
  const { post, answers } = await build(t)
  const nextEligibleAt = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6))
  mock.timers.enable({ apis: ['Date'], now: nextEligibleAt.getTime() - 5500 })
  t.teardown(() => mock.timers.reset())
  const results: readonly (readonly [ClaimResult, number, string, retryAfter?: string])[] = [
    [{ kind: 'key-used' }, 409, '{"error":"idempotencyKey already used"}'],
    [
      { kind: 'cooldown', nextEligibleAt },
      429,
      '{"error":"The address has claimed too recently","code":"COOLDOWN",' +
        '"nextEligibleAt":"2026-01-02T03:04:05.006Z"}',
      '6',
    ],
    [
      { kind: 'ip-limit' },
      429,
      '{"error":"The daily limit of claims for this IP is reached","code":"IP_LIMIT"}',
      '86400',
    ],
    [
      { kind: 'depleted' },
      503,
      '{"error":"The faucet has insufficient funds; try again later","code":"DEPLETED"}',
      '60',
    ],
    [
      { kind: 'validation-failed' },
      500,
      '{"error":"The funding transaction was not valid; try again with the same idempotencyKey",' +
        '"code":"VALIDATION_FAILED"}',
    ],
    [{ kind: 'undecided' }, 500, '{"error":"Something went wrong","code":"INTERNAL"}'],
  ]
  for (const [result, status, body, retryAfter] of results) {
    answers.result = result
    const answer = await post(claimBody)
    t.equal(answer.status, status, result.kind)
    t.equal(answer.body, body)
    t.equal(answer.headers['retry-after'], retryAfter)
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  }
})

t.test('gives an overload a code, as its other errors', async (t) => {
  const { post, answers } = await build(t)
  answers.result = new OverloadedError()
  const answer = await post(claimBody)
  t.equal(answer.status, 503)
  t.equal(answer.body, '{"error":"The node is overloaded: retry later","code":"OVERLOADED"}')
  t.equal(answer.headers['retry-after'], '1')
})

t.test('answers INTERNAL when the payer throws, with the cause in the log only', async (t) => {
  const { post, answers, log } = await build(t)
  answers.result = new Error('relation "faucet_claims" does not exist')
  const answer = await post(claimBody)
  t.equal(answer.status, 500)
  t.equal(answer.body, '{"error":"Something went wrong","code":"INTERNAL"}')
  t.match(log.find(({ level }) => level === 50)?.err, { code: 'FAUCET_INTERNAL', stack: /faucet_claims/ })
})

t.test('answers INTERNAL when the payer ends in a way that no ClaimResult describes', async (t) => {
  const { post, answers, log } = await build(t)
  const others = [
    { ...funded, txHash: Buffer.alloc(32) },
    { ...funded, claimId: '7' },
    { ...funded, amount: undefined },
    { kind: 'cooldown', nextEligibleAt: '2026-11-23T06:00:00.000Z' },
  ]
  for (const result of [{ kind: 'paid' }, {}, undefined, ...others]) {
    answers.result = result as unknown as ClaimResult
    const answer = await post(claimBody)
    t.equal(answer.status, 500)
    t.equal(answer.body, '{"error":"Something went wrong","code":"INTERNAL"}')
    t.match(log.findLast(({ level }) => level === 50)?.err, { stack: /payer\.claim\(\) must resolve to / })
  }
})

t.test('answers 401 without the token, before the body is checked', async (t) => {
  const { post, asked, server } = await build(t)
  const none = await server.inject({ method: 'POST', url: '/faucet/claims' })
  t.equal(none.statusCode, 401)
  t.equal(none.body, unauthorized)
  t.equal(none.headers['www-authenticate'], 'Bearer')
  for (const authorization of [
    '',
    token,
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token} ${token}`,
    'Bearer undefined',
  ]) {
    for (const body of [
      claimBody,
      {},
      'not JSON',
      { ...claimBody, address: 'nonsense' },
      'x'.repeat(100_000),
    ]) {
      const answer = await post(body, { authorization })
      t.equal(answer.status, 401, authorization)
      t.equal(answer.body, unauthorized)
      t.equal(answer.headers['www-authenticate'], 'Bearer')
    }
    t.equal((await post('<a/>', { authorization, 'content-type': 'text/xml' })).status, 401)
  }
  t.same(asked, [])
  t.equal(
    (await post(claimBody, { authorization: `bearer ${token}` })).status,
    200,
    'the scheme is case-insensitive',
  )
})

t.test('answers 400 for a malformed field and names it, before the address is checked', async (t) => {
  const { post, asked } = await build(t)
  const bodies: readonly (readonly [string, unknown, string])[] = [
    ['array', [], 'Invalid body: must be a JSON object'],
    ['null', null, 'Invalid body: must be a JSON object'],
    ['text', '"text"', 'Invalid body: must be a JSON object'],
    ['no address', { ...claimBody, address: undefined }, 'Invalid address: must be a string'],
    ['address of another type', { ...claimBody, address: 5 }, 'Invalid address: must be a string'],
    ['addresses', { ...claimBody, address: [enterprise] }, 'Invalid address: must be a string'],
    ...(['idempotencyKey', 'ipHash'] as const).flatMap((field) =>
      (
        [
          ['missing', undefined, 'must be a string'],
          ['null', null, 'must be a string'],
          ['number', 7, 'must be a string'],
          ['empty', '', 'must not be empty'],
          ['too long', 'k'.repeat(257), 'must not have more than 256 characters'],
          ['NUL', 'a\u0000b', 'must not have control characters'],
          ['line break', 'a\nb', 'must not have control characters'],
          ['lone surrogate', '\ud800', 'must not have control characters'],
        ] as const
      ).map(
        ([name, value, rule]) =>
          [
            `${field}: ${name}`,
            { ...claimBody, address: 'nonsense', [field]: value },
            `Invalid ${field}: ${rule}`,
          ] as const,
      ),
    ),
  ]
  for (const [name, body, error] of bodies) {
    const answer = await post(body)
    t.equal(answer.status, 400, name)
    t.equal(answer.body, JSON.stringify({ error }), name)
  }
  t.same(asked, [])
})

t.test('accepts texts of the maximum length, any characters and unknown fields', async (t) => {
  const { post, asked } = await build(t)
  const texts = { idempotencyKey: 'k'.repeat(256), ipHash: '≤ 💧 "\\' }
  t.equal((await post({ ...claimBody, ...texts, turnstile: { token: 1 } })).status, 200)
  t.match(asked, [texts])
  const poisoned = `{"__proto__":{"a":1},"constructor":{"prototype":{}},${JSON.stringify(claimBody).slice(1)}`
  t.equal((await post(poisoned)).status, 200)
})

t.test('refuses bodies that are not JSON or too large', async (t) => {
  const { post, asked } = await build(t)
  const requests: readonly (readonly [string, string, number])[] = [
    ['{"address":', 'application/json', 400],
    ['', 'application/json', 400],
    [JSON.stringify(claimBody), 'text/plain', 415],
    ['address=a', 'application/x-www-form-urlencoded', 415],
    [JSON.stringify({ ...claimBody, more: 'x'.repeat(20_000) }), 'application/json', 413],
  ]
  for (const [body, type, status] of requests) {
    const answer = await post(body, { 'content-type': type })
    t.equal(answer.status, status, `${type} ${body.slice(0, 20)}`)
    t.match(Object.keys(JSON.parse(answer.body)), ['error'])
    if (status === 415)
      t.equal(
        answer.body,
        '{"error":"Unsupported Media Type: send JSON with the header Content-Type: application/json"}',
      )
  }
  t.same(asked, [])
  t.equal((await post(claimBody, { 'content-type': 'application/json; charset=utf-8' })).status, 200)
})

t.test('logs neither token nor ipHash nor key at any level', async (t) => {
  const { post, log, answers } = await build(t)
  const body = { ...claimBody, idempotencyKey: 'the-key-of-it', ipHash: 'the-hash-of-it' }
  for (const result of [
    funded,
    { kind: 'ip-limit' },
    { kind: 'depleted' },
    new Error('unavailable'),
  ] as const) {
    answers.result = result
    await post(body)
  }
  await post({ ...body, address: 'nonsense' })
  await post({ ...body, idempotencyKey: 'the-key-of-it'.repeat(30) })
  await post(body, { authorization: `Bearer ${token}x` })
  const text = JSON.stringify(log)
  t.ok(log.length > 7)
  for (const secret of [token, 'the-key-of-it', 'the-hash-of-it']) t.notMatch(text, secret)
})

t.test('several instances on one server have their own tokens', async (t) => {
  const { server, post } = await build(t)
  const second = { claim: async () => ({ kind: 'depleted' }) as const }
  await server.register(faucet, { token: 'other', network: 'testnet', payer: second, prefix: '/l2' })
  t.equal((await post(claimBody)).status, 200)
  t.equal((await post(claimBody, {}, '/l2/faucet/claims')).status, 401)
  t.equal((await post(claimBody, { authorization: 'Bearer other' }, '/l2/faucet/claims')).status, 503)
})

t.test('refuses mainnet and invalid options at registration', async (t) => {
  const pays = { claim: async () => funded }
  const refused: readonly (readonly [Partial<Record<keyof FaucetOptions, unknown>>, RegExp])[] = [
    [{ network: 'mainnet' }, /there is no faucet on mainnet/],
    [{ network: 'preprod' }, /network must be testnet/],
    [{ network: undefined }, /network must be testnet/],
    [{ payer: undefined }, /payer must be an object with the method claim/],
    [{ layer: 3 }, /layer must be 1 or 2/],
    [{ payer: {} }, /payer must be an object with the method claim/],
    [{ token: '' }, /^@ratatosk\/faucet: token must be a text of ASCII characters/],
    [{ token: `${token}\n` }, /^@ratatosk\/faucet: token must be a text/],
    [{ token: undefined }, /^@ratatosk\/faucet: token must be a text/],
  ]
  for (const [options, message] of refused) {
    const server = fastify()
    const all = { token, network: 'testnet', payer: pays, ...options } as FaucetOptions
    await t.rejects(async () => server.register(faucet, all), { name: 'TypeError', message })
  }
})

t.test('documents the route and every status', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: { info: { title: 'faucet', version: '0' } } })
  await server.register(faucet, { token, network: 'testnet', payer: { claim: async () => funded } })
  await server.ready()
  const route = server.swagger().paths?.['/faucet/claims'] as {
    post: { responses: object; operationId: string }
  }
  t.equal(route.post.operationId, 'claim')
  t.same(Object.keys(route.post.responses).join(' '), '200 400 401 408 409 413 415 429 431 500 503')
})

const other = Buffer.alloc(28, 0x22)
const pointer = Buffer.from('81021a05', 'hex')

t.test('checks addresses in the order of the documented codes', async (t) => {
  const { post, asked } = await build(t)
  const errors = {
    ADDRESS_INVALID: 'The address is not a valid bech32 address',
    ADDRESS_NETWORK_MISMATCH: 'The address belongs to another network',
    ADDRESS_NO_PAYMENT_CREDENTIAL: 'The address has no payment credential',
    ADDRESS_SCRIPT: 'The address belongs to a script',
  }
  const refused: Record<keyof typeof errors, Record<string, string>> = {
    ADDRESS_INVALID: {
      empty: '',
      'not bech32': 'hello',
      'wrong checksum': enterprise.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')),
      'mixed case': `A${enterprise.slice(1)}`,
      'white space': ` ${enterprise}`,
      Byron: 'Ae2tdPwUPEZFSi1cTyL1ZL6bgixhc2vSy5heg6Zg9uP7PpumkAJ82Qprt8b',
      'pool id': addressText('pool', 6, 0, hash),
      'a byte short': addressText('addr_test', 6, 0, hash.subarray(1)),
      'unknown type': addressText('addr_test', 9, 0, hash),
      'prefix of a stake address': addressText('stake_test', 6, 0, hash),
    },
    ADDRESS_NETWORK_MISMATCH: {
      mainnet: addressText('addr', 6, 1, hash),
      'stake address of mainnet': addressText('stake', 14, 1, hash),
      'script of mainnet': addressText('addr', 7, 1, hash),
      'only the prefix is of mainnet': addressText('addr', 6, 0, hash),
      'only the prefix is of a test network': addressText('addr_test', 6, 1, hash),
    },
    ADDRESS_NO_PAYMENT_CREDENTIAL: {
      'stake key': addressText('stake_test', 14, 0, hash),
      'stake script': addressText('stake_test', 15, 0, hash),
    },
    ADDRESS_SCRIPT: {
      enterprise: addressText('addr_test', 7, 0, hash),
      'base with stake key': addressText('addr_test', 1, 0, hash, other),
      'base with stake script': addressText('addr_test', 3, 0, hash, other),
      pointer: addressText('addr_test', 5, 0, hash, pointer),
    },
  }
  for (const [code, addresses] of Object.entries(refused)) {
    for (const [name, address] of Object.entries(addresses)) {
      const answer = await post({ ...claimBody, address })
      t.equal(answer.status, 400, `${code}: ${name}`)
      t.equal(answer.body, JSON.stringify({ error: errors[code as keyof typeof errors], code }), name)
    }
  }
  t.same(asked, [])

  for (const address of [
    enterprise.toUpperCase(),
    addressText('addr_test', 0, 0, hash, other),
    addressText('addr_test', 2, 0, hash, other),
    addressText('addr_test', 4, 0, hash, pointer),
  ]) {
    t.equal((await post({ ...claimBody, address })).status, 200, address)
  }
  t.equal(asked.length, 4)
})

/** A listening server with or without a faucet. */
async function listen(t: Test, on: boolean): Promise<number> {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(httpErrors)
  if (on) await server.register(faucet, { token, network: 'testnet', payer: { claim: async () => funded } })
  await server.listen({ host: '127.0.0.1', port: 0 })
  return (server.server.address() as AddressInfo).port
}

/** The raw response without the value of its date. */
async function exchange(
  port: number,
  method: string,
  path: string,
  headers: readonly string[],
  body: string,
) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  const lines = [`${method} ${path} HTTP/1.1`, 'host: a', 'connection: close', ...headers]
  socket.write(`${lines.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  let answer = ''
  socket.on('data', (text: string) => {
    answer += text
  })
  await once(socket, 'close')
  return answer.replace(/^date: .*$/im, 'date:')
}

const json = 'content-type: application/json'
const bearer = `authorization: Bearer ${token}`
const requests = [
  [[json, bearer], JSON.stringify(claimBody)],
  [[json, 'authorization: Bearer wrong'], JSON.stringify(claimBody)],
  [[json], JSON.stringify(claimBody)],
  [[json, bearer], '{"address":'],
  [['content-type: text/xml'], '<a/>'],
  [[], ''],
] as const

t.test('an unregistered faucet answers byte for byte like an unknown path', async (t) => {
  const port = await listen(t, false)
  for (const [headers, body] of requests) {
    for (const method of ['POST', 'GET', 'PUT', 'OPTIONS']) {
      const answer = await exchange(port, method, '/faucet/claims', headers, body)
      t.equal(answer, await exchange(port, method, '/no/such/thing', headers, body), method)
      t.match(answer, /^HTTP\/1\.1 404 Not Found\r\n/)
      t.match(answer, /\r\n\r\n\{"error":"Not Found","code":"DISABLED"\}$/)
    }
  }
})

t.test('a registered faucet answers every method but POST like an unknown path', async (t) => {
  const port = await listen(t, true)
  for (const [headers, body] of requests) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await exchange(port, method, '/faucet/claims', headers, body)
      t.equal(answer, await exchange(port, method, '/no/such/thing', headers, body), method)
    }
  }
  t.match(await exchange(port, 'POST', '/faucet/claims', ...requests[0]), /^HTTP\/1\.1 200 /)
})
