import { ask, browserAttacks } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import type { OperatorsOptions } from './index.js'
import { build, hash28 } from './test/build.js'

const headerHash = 'ab'.repeat(28)
const wanted = { headerHash, kind: 'chunk', chunk: 3 }

async function open(t: Test, options?: Partial<OperatorsOptions>) {
  const built = await build(t, options)
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    ask(`${built.url}/summon`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { ...built, post }
}

t.test('answers with the question, and refuses with the reason', async (t) => {
  const { ports, post, log } = await open(t)
  const question = `${'cd'.repeat(32)}#0`
  const transactionId = new Uint8Array(32).fill(0xcd)
  ports.outcome = { kind: 'asked', question, transactionId, deadline: 1_767_225_600_000n }
  const answer = await post({ ...wanted, outref: 'ignored' })
  t.equal(answer.status, 200)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.same(JSON.parse(answer.body), {
    question,
    txHash: 'cd'.repeat(32),
    deadline: '2026-01-01T00:00:00.000Z',
  })
  t.same(ports.wanted, [{ headerHash: hash28(0xab), chunk: 3 }])
  t.same(ports.aborted, [false], 'the client waits')
  for (const [outcome, status, error] of [
    [{ kind: 'absent' }, 404, `No such block in the state queue: ${headerHash}`],
    [{ kind: 'refused', reason: 'Already asked' }, 409, 'Already asked'],
    [{ kind: 'busy' }, 503, 'Too many questions wait to be asked: retry later'],
  ] as const) {
    ports.outcome = outcome
    const answer = await post(wanted)
    t.equal(answer.status, status)
    t.same(JSON.parse(answer.body), { error })
    t.equal(answer.headers['retry-after'], status === 503 ? '1' : undefined)
  }
  t.match(log().at(-1), { level: 40, code: 'OPERATORS_BUSY', err: undefined }, 'a refusal has no stack')
  ports.failure = Object.assign(new Error('secret'), { code: 'LAYER1_TIMEOUT' })
  t.match(await post(wanted), { status: 503, body: /"cause":"timeout"/ })
})

t.test('refuses malformed bodies before it asks, and says what to send', async (t) => {
  const { ports, post } = await open(t)
  for (const [body, status, error] of [
    ['', 400, /./],
    ['{', 400, /./],
    ['[]', 400, /^Invalid body: object\. Send a JSON object$/],
    ['"x"', 400, /^Invalid body: string\. /],
    [{}, 400, /^Invalid kind: nothing\. Send chunk/],
    [{ ...wanted, kind: 'deposit' }, 400, /^Invalid kind: "deposit"\. Send chunk/],
    [{ ...wanted, kind: 'x'.repeat(1000) }, 400, /^Invalid kind: "x{99}\. /],
    [{ ...wanted, chunk: -1 }, 400, /^Invalid chunk: -1\. Send a whole number from 0 to 4294967295$/],
    [{ ...wanted, chunk: 1.5 }, 400, /^Invalid chunk: 1\.5\. /],
    [{ ...wanted, chunk: '1' }, 400, /^Invalid chunk: "1"\. /],
    [{ ...wanted, chunk: 2 ** 32 }, 400, /^Invalid chunk: 4294967296\. /],
    [{ ...wanted, headerHash: 'ab' }, 400, /^Invalid headerHash: ab\. Send a header hash of 56 hex digits$/],
    [{ ...wanted, headerHash: [headerHash] }, 400, /^Invalid headerHash: \["/],
    ['{"__proto__":{"kind":"chunk"}}', 400, /^Invalid kind: nothing/],
    [JSON.stringify({ ...wanted, more: 'x'.repeat(5000) }), 413, /./],
    [`${'['.repeat(2000)}${']'.repeat(2000)}`, 400, /^Invalid body/],
  ] as const) {
    const answer = await post(body)
    t.equal(answer.status, status, JSON.stringify(body).slice(0, 80))
    t.match(JSON.parse(answer.body).error, error)
  }
  t.equal((await post('headerHash=ab', { 'content-type': 'text/plain' })).status, 415)
  t.same(ports.wanted, [], 'nothing is asked')
})

t.test('asks for the token before it reads the body, and keeps hostile pages away', async (t) => {
  for (const options of [{ operatorToken: 'secret' }, { operatorToken: 'secret', allowedHosts: ['a.b'] }]) {
    const { ports, post, get, url, port } = await open(t, options)
    for (const authorization of ['', 'Bearer wrong', 'Basic secret']) {
      const answer = await post('x'.repeat(10_000), authorization ? { authorization } : {})
      t.equal(answer.status, 401)
      t.equal(answer.body, '{"error":"Unauthorized"}')
    }
    for (const { name, path = (route: string) => route, headers, method: _, ...question } of browserAttacks(
      port,
    )) {
      const answer = await ask(url + path('/summon'), {
        ...question,
        method: 'POST',
        body: JSON.stringify(wanted),
        headers: { 'content-type': 'application/json', ...headers, authorization: 'Bearer secret' },
      })
      t.equal(answer.status, 403, name)
    }
    t.equal((await get('/summon', { authorization: 'Bearer secret' })).status, 404)
    t.same(ports.wanted, [], 'nothing is asked')
    t.equal((await post(wanted, { authorization: 'Bearer secret' })).status, 404)
    t.equal(ports.wanted.length, 1)
    t.equal((await get('/verdicts')).status, 200, 'reads need no token')
  }
})

t.test('is not served without its port', async (t) => {
  const { post } = await open(t, { summoner: undefined } as unknown as OperatorsOptions)
  t.match(await post(wanted), { status: 404, body: '{"error":"Not Found","code":"DISABLED"}' })
})
