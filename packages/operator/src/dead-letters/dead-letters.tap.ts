import swagger from '@fastify/swagger'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { ask, browserAttacks, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import deadLetters, { type DeadLetters, type DeadLettersOptions, type ListedDeadLetter } from './index.js'

const time = new Date('2026-03-04T05:06:07.891Z')

function letter(n: number, changes: Partial<ListedDeadLetter> = {}): ListedDeadLetter {
  return {
    sequence: BigInt(n),
    digest: new Uint8Array(32).fill(0xf0 + n),
    submissionId: `s-${n}`,
    transactionId: new Uint8Array(32).fill(n),
    cbor: Uint8Array.of(0x84, n),
    code: 'FeeTooSmallUTxO',
    message: 'The fee is 1 lovelace, at least 155381 are required.',
    details: [{ predicate: 'FeeTooSmallUTxO' }],
    attempts: 1,
    count: 2,
    submittedAt: time,
    rejectedAt: time,
    ...changes,
  }
}

/** Letters in memory; records what changes them. */
class Letters implements DeadLetters {
  readonly changes: string[] = []
  readonly kept: ListedDeadLetter[]

  constructor(kept: readonly ListedDeadLetter[]) {
    this.kept = [...kept]
  }

  async list({ limit, before }: { limit: number; before?: bigint }) {
    const newest = [...this.kept]
      .reverse()
      .filter(({ sequence }) => before === undefined || sequence < before)
    return newest.slice(0, limit)
  }

  async find(id: string) {
    if (id.includes('\0')) throw new Error('invalid byte sequence, as PostgreSQL says')
    return this.kept.find(({ submissionId }) => submissionId === id)
  }

  async replay(id: string) {
    const found = await this.find(id)
    if (found === undefined) return 'not-found'
    if (found.cbor === undefined) return 'dropped'
    this.changes.push(`replay ${id}`)
    return { id: `again-${id}` }
  }

  async drop(id: string) {
    if ((await this.find(id)) === undefined) return false
    this.changes.push(`drop ${id}`)
    return true
  }
}

async function build(
  t: Test,
  kept: readonly ListedDeadLetter[] = [],
  options: Partial<DeadLettersOptions> = {},
) {
  const letters = new Letters(kept)
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(deadLetters, { deadLetters: letters, ...options })
  return { server, letters, ...(await listening(server)) }
}

t.test('lists letters newest first, page by page', async (t) => {
  const { get } = await build(
    t,
    [1, 2, 3, 4, 5].map((n) => letter(n)),
  )
  const seen: string[] = []
  let before: string | undefined
  do {
    const { status, body } = await get(`/deadLetters?limit=2${before ? `&before=${before}` : ''}`)
    t.equal(status, 200)
    const page = JSON.parse(body)
    seen.push(...page.deadLetters.map(({ id }: { id: string }) => id))
    before = page.before
  } while (before !== undefined)
  t.same(seen, ['s-5', 's-4', 's-3', 's-2', 's-1'])
  t.same(JSON.parse((await get('/deadLetters?limit=100')).body).deadLetters[0], {
    id: 's-5',
    digest: 'f5'.repeat(32),
    txHash: '05'.repeat(32),
    code: 'FeeTooSmallUTxO',
    reason: 'The fee is 1 lovelace, at least 155381 are required.',
    attempts: 1,
    count: 2,
    submittedAt: '2026-03-04T05:06:07.891Z',
    rejectedAt: '2026-03-04T05:06:07.891Z',
  })
})

t.test('refuses a limit or a position that is not a number in range', async (t) => {
  const { get } = await build(t)
  const [limit, before] = ['Send a whole number from 1', 'Send before as GET /deadLetters answered it']
  for (const [query, message] of [
    ['limit=0', `Invalid limit: 0. ${limit}`],
    ['limit=-1', `Invalid limit: -1. ${limit}`],
    ['limit=1.5', `Invalid limit: 1.5. ${limit}`],
    ['limit=2&limit=3', `Invalid limit: 2,3. ${limit}`],
    ['limt=1', 'Invalid parameter: limt. Send only limit, before'],
    ['before=x', `Invalid before: x. ${before}`],
    ['before=1234567890123456789', `Invalid before: 1234567890123456789. ${before}`],
  ] as const) {
    const answer = await get(`/deadLetters?${query}`)
    t.equal(answer.status, 400, query)
    t.same(JSON.parse(answer.body), { error: message })
  }
  t.equal((await get('/deadLetters?limit=99999')).status, 200, 'a large limit is capped')
})

t.test('answers 500 for letters that are none, and logs the method and the field', async (t) => {
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'error', stream } })
  t.teardown(() => server.close())
  let answer: unknown
  const give = async () => answer as never
  const port = { list: give, find: give, replay: give, drop: give }
  await server.register(deadLetters, { deadLetters: port })
  const one = letter(1)
  for (const [method, url, name, given, message] of [
    ['GET', '', 'list', undefined, 'an array of ListedDeadLetter: Expected array'],
    [
      'GET',
      '',
      'list',
      [{ ...one, digest: 5 }],
      'an array of ListedDeadLetter: 0.digest: Expected Uint8Array',
    ],
    [
      'GET',
      '',
      'list',
      [{ ...one, sequence: 5 }],
      'an array of ListedDeadLetter: 0.sequence: Expected bigint',
    ],
    ['GET', '?limit=1', 'list', [one, one], 'at most 1 entries'],
    [
      'GET',
      '/a',
      'find',
      { ...one, rejectedAt: 'now' },
      'a DeadLetter, or undefined: rejectedAt: Expected Date',
    ],
    ['POST', '/a/replay', 'replay', undefined, "{ id }, 'not-found' or 'dropped': Expected object"],
    ['DELETE', '/a', 'drop', undefined, 'a boolean: Expected boolean'],
  ] as const) {
    answer = given
    const { statusCode } = await server.inject({ method, url: `/deadLetters${url}` })
    t.equal(statusCode, 500, message)
    t.match(log().at(-1), { err: { message: `deadLetters.${name}() must resolve to ${message}` } })
  }
  answer = null
  t.equal((await server.inject('/deadLetters/a')).statusCode, 404)
})

t.test('shows everything that is kept of a letter', async (t) => {
  const { cbor: _, transactionId: __, ...bare } = letter(2)
  const { get } = await build(t, [letter(1), bare])
  const whole = JSON.parse((await get('/deadLetters/s-1')).body)
  t.equal(whole.cbor, '8401')
  t.same(whole.details, [{ predicate: 'FeeTooSmallUTxO' }])
  const dropped = JSON.parse((await get('/deadLetters/s-2')).body)
  t.notOk('cbor' in dropped)
  t.notOk('txHash' in dropped)
})

t.test('replays a letter, or says why it cannot', async (t) => {
  const { cbor: _, ...bare } = letter(2)
  const { url, letters } = await build(t, [letter(1), bare])
  const replay = (id: string) => ask(`${url}/deadLetters/${id}/replay`, { method: 'POST' })
  const replayed = await replay('s-1')
  t.equal(replayed.status, 200)
  t.same(JSON.parse(replayed.body), { id: 'again-s-1' })
  const dropped = await replay('s-2')
  t.equal(dropped.status, 409)
  t.match(JSON.parse(dropped.body).error, /no longer kept: submit the transaction again/)
  const unknown = await replay('s-3')
  t.equal(unknown.status, 404)
  t.same(JSON.parse(unknown.body), { error: 'Dead letter not found: s-3' })
  t.same(letters.changes, ['replay s-1'])
})

t.test('drops a letter once', async (t) => {
  const { url, letters } = await build(t, [letter(1)])
  t.equal((await ask(`${url}/deadLetters/s-1`, { method: 'DELETE' })).status, 204)
  t.equal((await ask(`${url}/deadLetters/s-9`, { method: 'DELETE' })).status, 404)
  t.same(letters.changes, ['drop s-1'])
})

t.test('has no letter whose id has NUL', async (t) => {
  const { url } = await build(t)
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/replay'],
    ['DELETE', ''],
  ] as const) {
    const { status, body } = await ask(`${url}/deadLetters/a%00b${path}`, { method })
    t.equal(status, 404, method)
    t.same(JSON.parse(body), { error: 'Dead letter not found: a\u0000b' })
  }
})

const routes = [
  ['GET', '/deadLetters'],
  ['GET', '/deadLetters/s-1'],
  ['POST', '/deadLetters/s-1/replay'],
  ['DELETE', '/deadLetters/s-1'],
] as const

t.test('asks for the token on every route', async (t) => {
  const { url, letters } = await build(t, [letter(1)], { operatorToken: 'secret' })
  for (const [method, path] of routes) {
    for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      const answer = await ask(url + path, { method, headers })
      t.equal(answer.status, 401, `${method} ${path}`)
      t.equal(answer.headers['cache-control'], 'no-store')
    }
  }
  t.same(letters.changes, [])
  const authorized = { authorization: 'Bearer secret' }
  t.equal((await ask(`${url}/deadLetters`, { headers: authorized })).status, 200)
})

t.test('keeps hostile web pages from every route', async (t) => {
  const { url, port, letters } = await build(t, [letter(1)])
  for (const { name, path = (route: string) => route, headers, method } of browserAttacks(port)) {
    for (const [own, route] of routes) {
      if (method !== undefined && method !== own) continue
      const answer = await ask(url + path(route), { method: own, headers: { ...headers } })
      t.equal(answer.status, 403, `${name}: ${own} ${route}`)
    }
  }
  t.same(letters.changes, [])
})

t.test('documents every route, parameter and status', async (t) => {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  await server.register(deadLetters, { deadLetters: new Letters([]) })
  await server.ready()
  const { paths = {} } = server.swagger() as unknown as {
    paths?: Record<string, Record<string, { responses: object }>>
  }
  const statuses = (path: string, method: string) =>
    Object.keys(paths[path]?.[method]?.responses ?? {}).join(' ')
  t.equal(statuses('/deadLetters', 'get'), '200 400 401 403 408 431 500 503')
  t.equal(statuses('/deadLetters/{id}', 'get'), '200 401 403 404 408 414 431 500 503')
  t.equal(statuses('/deadLetters/{id}/replay', 'post'), '200 400 401 403 404 408 409 413 414 415 431 500 503')
  t.equal(statuses('/deadLetters/{id}', 'delete'), '204 400 401 403 404 408 413 414 415 431 500 503')
})

t.test('refuses options that cannot work', async (t) => {
  for (const options of [{}, { deadLetters: {} }] as unknown as DeadLettersOptions[]) {
    await t.rejects(async () => fastify().register(deadLetters, options), TypeError)
  }
})
