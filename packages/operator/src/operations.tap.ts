import type { OperationResult } from '@ratatosk/ports'
import { ask, browserAttacks, golden } from '@ratatosk/test-kit/http'
import t from 'tap'
import { build, changes, headerHash, operatorKey, requests } from './test/build.js'

const type = 'application/json; charset=utf-8'

interface Case {
  readonly request: string
  readonly result: OperationResult
  readonly status: number
  readonly body: object
}

t.test('answers every result as in the golden file', async (t) => {
  const { node, get } = await build(t)
  for (const { request, result, status, body } of golden<Case[]>(import.meta.url, 'test/golden.json')) {
    node.end(result)
    const answer = await get(request.replace('GET ', ''))
    const name = `${request}: ${JSON.stringify(result)}`
    t.equal(answer.status, status, name)
    t.equal(answer.body, JSON.stringify(body), name)
    t.equal(answer.headers['content-type'], type)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

t.test('runs one operation per request', async (t) => {
  const { node, get } = await build(t)
  for (const request of requests) await get(request)
  t.same(node.asked, ['init', 'commit', 'merge', 'reset', `remove ${headerHash}`])
})

t.test('answers 503 when layer 1 fails, naming the kind of failure only', async (t) => {
  const { node, get, log } = await build(t)
  const secret = 'https://preprod0000secret@blockfrost.example'
  for (const [code, cause, error] of [
    ['LAYER1_TIMEOUT', 'timeout', 'The layer-1 provider failed: timeout'],
    ['LAYER1_REJECTED', 'rejected', 'The layer-1 provider failed: rejected'],
    ['LAYER1_NEW', 'unknown', 'The layer-1 provider failed'],
  ] as const) {
    node.failure = Object.assign(new Error(secret), { code })
    for (const request of requests) {
      const answer = await get(request)
      t.equal(answer.status, 503, `${request}: ${code}`)
      t.equal(answer.body, JSON.stringify({ status: 'error', error, cause }))
      t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { code } })
    }
  }
})

t.test(
  'answers any other failure with a bare 500 and logs its cause under the id of the request',
  async (t) => {
    const { node, get, log } = await build(t)
    for (const failure of [
      new Error('connect 10.0.0.1'),
      Object.assign(new Error('a driver'), { code: '42P01', statusCode: 404 }),
    ]) {
      node.failure = failure
      for (const path of [...requests, '/logBlocksTxsDB', '/logGlobals']) {
        const answer = await get(path)
        t.equal(answer.status, 500, path)
        t.equal(answer.body, '{"error":"Something went wrong"}')
        t.equal(answer.headers['cache-control'], 'no-store')
        t.match(log().at(-1), { level: 50, reqId: /^req-/, err: { message: failure.message } })
      }
    }
  },
)

t.test('logs the result of another operation as a defect', async (t) => {
  const { node, get, log } = await build(t)
  node.end({ kind: 'repaired' })
  for (const request of requests) {
    t.equal((await get(request)).status, 500, request)
    const [, operation] = /^.(\w+)/.exec(request) ?? []
    t.match(log().at(-1)?.err, {
      message: `Operation ${operation} ended with the result of another operation: repaired`,
    })
  }
})

t.test('answers no result whose values have other types', async (t) => {
  const { node, get, log } = await build(t)
  const bytes = Buffer.alloc(28) as unknown as string
  for (const [request, result, fault] of [
    ['/init', { ...node.results.init, transactionId: 5 }, 'initiated }: transactionId: '],
    ['/init', { kind: 'root-exists' }, 'root-exists }: rootUnit: '],
    ['/commit', { ...node.results.commit, headerHash: bytes }, 'committed }: headerHash: '],
    ['/merge', { ...node.results.merge, transactionId: 'not hex' }, 'merged }: transactionId: '],
    ['/commit', undefined, 'initiated | root-exists | '],
    ['/commit', { kind: 'done' }, 'initiated | root-exists | '],
    ['/commit', { kind: 'refused', code: 'SEQUENCER_FAILED' }, 'refused }: message: '],
    ['/commit', { kind: 'timed-out' }, 'timed-out }: message: '],
    ['/merge', { kind: 'busy' }, 'busy }: operation: '],
    ['/merge', { kind: 'layer1-failed' }, 'layer1-failed }: cause: '],
  ] as const) {
    node.end(result as unknown as OperationResult)
    const { status, body } = await get(request)
    t.same([status, body], [500, '{"error":"Something went wrong"}'], fault)
    const { message = '' } = log().at(-1)?.err ?? {}
    t.ok(message.startsWith(`operations.run() must resolve to { kind: ${fault}`), message)
  }
})

t.test('asks /remove for one header hash, of either case, before anything runs', async (t) => {
  const { node, get } = await build(t)
  for (const [query, printed] of [
    ['', 'undefined'],
    ['?header_hash=', ''],
    ['?header_hash=abc', 'abc'],
    [`?header_hash=${headerHash}ab`, `${headerHash}ab`],
    [`?header_hash=${'xy'.repeat(28)}`, 'xy'.repeat(28)],
    [`?header_hash=${headerHash}&header_hash=${headerHash}`, `${headerHash},${headerHash}`],
  ] as const) {
    const answer = await get(`/remove${query}`)
    t.equal(answer.status, 400, query)
    const error = `Invalid block hash: ${printed}. Send header_hash with 56 hex digits`
    t.equal(answer.body, JSON.stringify({ error }))
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  const error = 'Invalid parameter: hash. Send only header_hash'
  t.match(await get(`/remove?header_hash=${headerHash}&hash=1`), {
    status: 400,
    body: JSON.stringify({ error }),
  })
  t.same(node.asked, [], 'nothing runs')
  t.equal((await get(`/remove?header_hash=${headerHash.toUpperCase()}`)).status, 200)
  t.same(node.asked, [`remove ${headerHash}`])
})

const txHash = '11'.repeat(32)
const [activeFrom, activeUntil, releaseAt] = [0, 1000, 2000].map((time) => new Date(time).toISOString())

t.test('answers what is the case, and whether it was before', async (t) => {
  const { node, url } = await build(t)
  const bond = '500000000'
  const answers = async () => {
    const found: unknown[] = []
    for (const path of changes) {
      const { status, body, headers } = await ask(url + path, { method: 'POST' })
      t.equal(headers['cache-control'], 'no-store')
      found.push([status, JSON.parse(body)])
    }
    return found
  }
  t.same(await answers(), [
    [200, { message: 'The operator is registered', txHash, operatorKey, bond: '5', activeFrom }],
    [200, { message: 'The operator has retired', txHash, operatorKey, activeUntil, releaseAt }],
    [200, { message: 'The bond is withdrawn', txHash, operatorKey, bond: '5' }],
  ])
  Object.assign(node.results, {
    register: { kind: 'registered', operatorKey, bond, activeFrom: 0 },
    retire: { kind: 'retired', operatorKey, activeUntil: 1000, releaseAt: 2000 },
    release: { kind: 'refused', code: 'SEQUENCER_BOND_LOCKED', message: 'The bond is locked: wait' },
  })
  t.same(await answers(), [
    [200, { message: 'The operator is registered already', operatorKey, bond, activeFrom }],
    [200, { message: 'The operator has retired already', operatorKey, activeUntil, releaseAt }],
    [409, { error: 'The bond is locked: wait' }],
  ])
  node.end({ kind: 'busy', operation: 'retire' })
  const busy = [409, { error: 'Change of the bond already in progress' }]
  t.same(await answers(), [busy, busy, busy])
  node.end({ kind: 'reset' })
  t.same(
    (await answers()).map((answer) => (answer as [number])[0]),
    [500, 500, 500],
  )
})

t.test('asks for the token, keeps hostile pages away, and is no GET', async (t) => {
  const { node, url, port } = await build(t, { operatorToken: 'secret' })
  const authorization = 'Bearer secret'
  for (const path of changes) {
    t.equal((await ask(url + path, { method: 'POST' })).status, 401, path)
    t.equal((await ask(url + path, { headers: { authorization } })).status, 404, path)
    for (const attack of browserAttacks(port)) {
      const headers = { ...attack.headers, authorization }
      const answer = await ask(url + (attack.path?.(path) ?? path), { method: 'POST', headers })
      t.equal(answer.status, 403, `${attack.name}: ${path}`)
    }
  }
  t.same(node.asked, [], 'nothing runs')
  for (const path of changes)
    t.equal((await ask(url + path, { method: 'POST', headers: { authorization } })).status, 200)
  t.same(node.asked, ['register', 'retire', 'release'])
})
