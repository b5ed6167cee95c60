import swagger from '@fastify/swagger'
import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import evaluate, { type EvaluateOptions, type Evaluation, evaluate as named } from './index.js'

const valid: Evaluation = {
  verdict: 'valid',
  transactionId: Buffer.alloc(32, 0xab),
  failures: [],
  redeemers: [],
  slot: 7n,
}

async function build(t: Test, answer: (cbor: Uint8Array) => Promise<Evaluation>, options: object = {}) {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(evaluate, { evaluations: { evaluate: answer }, ...options })
  const post = (payload: string, type = 'text/plain') =>
    server.inject({ method: 'POST', url: '/evaluate', headers: { 'content-type': type }, payload })
  return { server, post }
}

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(evaluate, named)
  const { server } = await build(t, async () => valid)
  t.ok(server.hasPlugin('@ratatosk/submit/evaluate'))
})

t.test('passes the bytes on and answers with the verdict', async (t) => {
  const seen: Uint8Array[] = []
  const { post } = await build(t, async (cbor) => {
    seen.push(cbor)
    return valid
  })
  const response = await post(' 84A0a0f5f6\n')
  t.equal(response.statusCode, 200)
  t.equal(response.headers['cache-control'], 'no-store')
  t.same(response.json(), {
    verdict: 'valid',
    txHash: 'ab'.repeat(32),
    failures: [],
    redeemers: [],
    slot: 7,
  })
  t.same(
    seen.map((bytes) => Buffer.from(bytes).toString('hex')),
    ['84a0a0f5f6'],
  )
})

t.test('answers with failures and with the units of scripts', async (t) => {
  const details = { declared: '1', nested: { deep: [1, null, 'x'] } }
  const { post } = await build(t, async () => ({
    ...valid,
    verdict: 'invalid',
    transactionId: undefined,
    failures: [{ predicate: 'ValidationTagMismatch', message: 'A script fails', details }],
    redeemers: [
      {
        purpose: 'mint',
        index: 0,
        declared: { memory: 2n ** 60n, steps: 1n },
        outcome: {
          kind: 'BudgetExceeded',
          used: { memory: 3n, steps: 2n },
          message: 'too much',
          logs: ['a'],
        },
      },
      { purpose: 'spend', index: 1, declared: { memory: 1n, steps: 1n }, outcome: { kind: 'NotReached' } },
    ],
  }))
  t.same((await post('80')).json(), {
    verdict: 'invalid',
    failures: [{ predicate: 'ValidationTagMismatch', message: 'A script fails', details }],
    redeemers: [
      {
        purpose: 'mint',
        index: 0,
        outcome: 'BudgetExceeded',
        declared: { memory: String(2n ** 60n), steps: '1' },
        used: { memory: '3', steps: '2' },
        message: 'too much',
        logs: ['a'],
      },
      { purpose: 'spend', index: 1, outcome: 'NotReached', declared: { memory: '1', steps: '1' } },
    ],
    slot: 7,
  })
})

t.test('refuses what /submit refuses, before anything is validated', async (t) => {
  const { server, post } = await build(t, () => Promise.reject(new Error('validated')), {
    maxTransactionSize: 4,
  })
  for (const body of ['', '8', 'xyz', '8080', '82', '1 8']) t.equal((await post(body)).statusCode, 400, body)
  t.same((await post('82')).json(), { error: 'Invalid CBOR provided' })
  t.equal((await post('0'.repeat(9))).statusCode, 413)
  for (const refused of [
    await post('80', 'application/json'),
    await post('80', 'application/x-www-form-urlencoded'),
    await server.inject({ method: 'POST', url: '/evaluate' }),
  ]) {
    t.equal(refused.statusCode, 415)
    t.match(refused.json().error, /send the hex digits with the header Content-Type: text\/plain/)
  }
  t.equal((await server.inject({ method: 'GET', url: '/evaluate' })).statusCode, 404)
})

t.test('answers 503 with Retry-After if it is busy, and reveals nothing of other errors', async (t) => {
  const busy = Object.assign(new Error('lane is full of secrets'), { retryAfterMs: 1500 })
  const { post } = await build(t, () => Promise.reject(busy))
  const refused = await post('80')
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '2')
  t.notMatch(refused.body, /secrets/)
  const { post: failing } = await build(t, () => Promise.reject(new Error('secret')))
  const failed = await failing('80')
  t.equal(failed.statusCode, 500)
  t.equal(failed.body, '{"error":"Something went wrong"}')
})

t.test('aborts the signal when the client disconnects', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  let aborted: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    aborted = resolve
  })
  let begin: () => void = () => {}
  const started = new Promise<void>((resolve) => {
    begin = resolve
  })
  await server.register(evaluate, {
    evaluations: {
      evaluate: (_cbor, signal) =>
        new Promise((_resolve, reject) => {
          // After the end of the request, for which the signal is not.
          setTimeout(() => {
            t.equal(signal?.aborted, false)
            signal?.addEventListener('abort', () => {
              aborted()
              reject(signal.reason)
            })
            begin()
          }, 50)
        }),
    },
  })
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  const client = new AbortController()
  const asked = fetch(`${url}/evaluate`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '80',
    signal: client.signal,
  }).catch(() => undefined)
  await started
  client.abort()
  await Promise.all([asked, gone])
  t.pass('the signal was aborted')
})

t.test('the log names the field of an evaluation that has another shape', async (t) => {
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'error', stream } })
  t.teardown(() => server.close())
  let answer: unknown
  const evaluations = { evaluate: async () => answer } as EvaluateOptions['evaluations']
  await server.register(evaluate, { evaluations })
  for (const [given, message] of [
    [undefined, 'Expected object'],
    [{ ...valid, verdict: 'good' }, "verdict: Expected string to match '^(valid|known|retriable|invalid)$'"],
    [{ ...valid, transactionId: 'ab' }, 'transactionId: Expected Uint8Array'],
    [{ ...valid, failures: undefined }, 'failures: Expected array'],
    [{ ...valid, failures: [{}] }, 'failures.0.predicate: Expected required property'],
    [
      { ...valid, failures: [{ predicate: 'A', message: 'b', details: { fee: 1n } }] },
      'failures.0.details.fee: Expected union value',
    ],
    [{ ...valid, redeemers: {} }, 'redeemers: Expected array'],
    [{ ...valid, redeemers: [{}] }, 'redeemers.0.purpose: Expected required property'],
    [{ ...valid, slot: 'now' }, 'slot: Expected union value'],
  ] as const) {
    answer = given
    const headers = { 'content-type': 'text/plain' }
    const { statusCode } = await server.inject({ method: 'POST', url: '/evaluate', headers, payload: '80' })
    t.equal(statusCode, 500)
    t.match(log().at(-1), {
      err: { type: 'TypeError', message: `evaluations.evaluate() must resolve to an Evaluation: ${message}` },
    })
  }
})

t.test('throws at startup for options that cannot work', async (t) => {
  for (const options of [
    {},
    { evaluations: {} },
    { evaluations: { evaluate: () => {} }, maxTransactionSize: 0 },
  ]) {
    const server = fastify()
    await t.rejects(async () => server.register(evaluate, options as EvaluateOptions), TypeError)
    await server.close()
  }
})

t.test('documents the route, its body and every status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(evaluate, { evaluations: { evaluate: async () => valid } })
  await server.ready()
  const operation = server.swagger().paths?.['/evaluate']?.post
  t.match(operation, { requestBody: { content: { 'text/plain': { schema: { type: 'string' } } } } })
  t.equal(Object.keys(operation?.responses ?? {}).join(' '), '200 400 408 413 415 429 431 500 503')
})
