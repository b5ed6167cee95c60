import { setTimeout as delay } from 'node:timers/promises'
import { ask, browserAttacks } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import type { OperatorsOptions, QuestionAnswer } from './index.js'
import { build, hash28, hex28, question } from './test/build.js'

const parsed = ({ body }: { readonly body: string }) => JSON.parse(body)
const numbersOf = ({ questions }: { questions: readonly { readonly question: string }[] }) =>
  questions.map((each) => Number.parseInt(each.question, 16))

t.test('GET /summons answers the open questions, the earliest deadline first', async (t) => {
  const { ports, get } = await build(t)
  const chunk = { kind: 'chunk', root: 'transactionsRoot', key: Uint8Array.of(0, 0, 1, 2) } as const
  ports.open = [[question(3), question(1, chunk)], [], [question(2, { kind: 'leaf', key: new Uint8Array() })]]
  const answer = await get('/summons')
  t.equal(answer.status, 200)
  t.equal(
    answer.body.slice(0, answer.body.indexOf('},') + 1),
    `{"questions":[${JSON.stringify({
      question: `${'0'.repeat(63)}1#0`,
      headerHash: hex28(7),
      kind: 'chunk',
      root: 'transactionsRoot',
      key: '00000102',
      deadline: '2026-01-01T00:00:00.001Z',
      bond: '3000000',
    })}`,
  )
  t.same(numbersOf(parsed(answer)), [1, 2, 3])
  t.match(parsed(answer), {
    questions: [{}, { kind: 'leaf', key: '' }, { key: '00'.repeat(33) }],
    hasMore: false,
  })
})

t.test('GET /summons answers an empty list', async (t) => {
  const { get } = await build(t)
  t.equal((await get('/summons')).body, '{"questions":[],"hasMore":false}')
})

t.test('GET /summons answers page by page, also where deadlines are equal', async (t) => {
  const { ports, get } = await build(t)
  const numbers = [5, 2, 4, 1, 3]
  ports.open = [numbers.map((number) => question(number, { deadline: 10n ** 30n }))]
  const seen: number[] = []
  for (let offset = 0; ; offset += 2) {
    const page = parsed(await get(`/summons?limit=2&offset=${offset}`))
    seen.push(...numbersOf(page))
    t.equal(page.hasMore, seen.length < numbers.length)
    if (!page.hasMore) break
  }
  t.same(seen, [1, 2, 3, 4, 5])
  t.same(parsed(await get('/summons?limit=5')).hasMore, false)
  t.same(parsed(await get('/summons?offset=5')), { questions: [], hasMore: false })
})

t.test('GET /summons answers the questions about one block', async (t) => {
  const { ports, get } = await build(t)
  ports.open = [[question(1), question(2, { headerHash: hash28(0xab) }), question(3)]]
  t.same(numbersOf(parsed(await get(`/summons?header_hash=${hex28(0xab)}`))), [2])
  t.same(numbersOf(parsed(await get(`/summons?header_hash=${hex28(0xab).toUpperCase()}`))), [2])
  t.same(parsed(await get(`/summons?header_hash=${hex28(7)}&limit=1`)), {
    questions: [parsed(await get('/summons')).questions[0]],
    hasMore: true,
  })
  t.same(parsed(await get(`/summons?header_hash=${hex28(9)}`)), { questions: [], hasMore: false })
})

t.test('GET /summons refuses bad parameters, naming them', async (t) => {
  const { ports, get } = await build(t)
  const wholeNumber = 'Send a whole number from'
  for (const [query, error] of [
    ['header_hash=', 'Invalid header_hash: . Send a header hash of 56 hex digits'],
    [`header_hash=${'ab'.repeat(27)}zz`, /^Invalid header_hash: (ab){27}zz\. Send/],
    [`header_hash=${'ab'.repeat(32)}`, /^Invalid header_hash: /],
    ['header_hash=a&header_hash=b', /^Invalid header_hash: a,b\. /],
    ['limit=0', `Invalid limit: 0. ${wholeNumber} 1 to 500`],
    ['limit=501', `Invalid limit: 501. ${wholeNumber} 1 to 500`],
    ['limit=1e2', /^Invalid limit: 1e2\. /],
    ['limit=2&limit=3', /^Invalid limit: 2,3\. /],
    [`limit=${'9'.repeat(400)}`, /^Invalid limit: 9+\. /],
    ['offset=-1', `Invalid offset: -1. ${wholeNumber} 0 to 10000000`],
    ['offset=', /^Invalid offset: \. /],
  ] as const) {
    const answer = await get(`/summons?${query}`)
    t.equal(answer.status, 400, query)
    t.match(parsed(answer), { error })
  }
  t.same(ports.asked, [], 'nothing is read')
})

t.test('GET /summons reads once for all who ask within half a second', async (t) => {
  const { ports, get } = await build(t)
  ports.open = [[question(1), question(2, { headerHash: hash28(2) })]]
  const queries = ['', '?limit=1', `?header_hash=${hex28(2)}`, '?offset=1']
  const answers = await Promise.all([...queries, ...queries].map((query) => get(`/summons${query}`)))
  t.same(answers.map(parsed).map(numbersOf), [[1, 2], [1], [2], [2], [1, 2], [1], [2], [2]])
  t.same(ports.asked, ['questions'])
  ports.open = []
  t.same(numbersOf(parsed(await get('/summons'))), [1, 2], 'still fresh')
  await delay(600)
  t.same(numbersOf(parsed(await get('/summons'))), [])
  t.same(ports.asked, ['questions', 'questions'])
})

t.test('GET /summons answers 40,000 questions within its bound, while others are served', async (t) => {
  const pieces = Array.from({ length: 400 }, (_, piece) =>
    // The last piece is due first.
    Array.from({ length: 100 }, (_, place) => question((399 - piece) * 100 + place)),
  )
  let read = 0
  async function* asked(): AsyncGenerator<readonly QuestionAnswer[]> {
    for (const piece of pieces) {
      read++
      yield piece
    }
  }
  const { get } = await build(t, { questions: { read: asked } })
  const slow = get('/summons?limit=500')
  let served = 0
  while (read < pieces.length) {
    t.equal((await get('/operators')).status, 200)
    served++
  }
  t.ok(served > 1, `${served} other requests were served`)
  t.same(
    numbersOf(parsed(await slow)),
    Array.from({ length: 500 }, (_, number) => number),
  )
  const last = parsed(await get('/summons?limit=500&offset=10000'))
  t.equal(last.questions.length, 500)
  t.equal(last.hasMore, true)
  t.same(parsed(await get('/summons?offset=11000')), { questions: [], hasMore: false }, 'others are not kept')
})

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
