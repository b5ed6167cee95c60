// Promises of each plugin to a server of any kind: in its README, the section "In your server".
import rateLimit from '@fastify/rate-limit'
import swagger from '@fastify/swagger'
import archivist from '@ratatosk/archivist'
import explorer from '@ratatosk/explorer'
import faucet from '@ratatosk/faucet'
import health from '@ratatosk/health'
import metrics, { prometheus } from '@ratatosk/health/metrics'
import operator from '@ratatosk/operator'
import deadLetters from '@ratatosk/operator/dead-letters'
import stateQueue from '@ratatosk/state-queue'
import bridge from '@ratatosk/state-queue/bridge'
import operators from '@ratatosk/state-queue/operators'
import submit from '@ratatosk/submit'
import evaluate from '@ratatosk/submit/evaluate'
import txStatus from '@ratatosk/submit/status'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import txQuery from '@ratatosk/tx-query'
import events from '@ratatosk/tx-query/events'
import proofs from '@ratatosk/tx-query/proofs'
import fastify, { type FastifyInstance, type FastifyPluginAsync, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'

interface Case {
  readonly plugin: unknown
  readonly options: (port: object) => object
  readonly request: InjectOptions & { readonly url: string }
  /** The answer to a port that fails. Default: 500 `Something went wrong`. */
  readonly status?: number
  readonly error?: string
  /** A port that chooses a status is answered as one that fails. */
  readonly keepsStatus?: true
  /** A port that fails is left out of an answer of 200. */
  readonly omitsFault?: true
}

const hash = 'ab'.repeat(32)
const headerHash = 'cd'.repeat(28)
const authorization = 'Bearer secret'
const operatorToken = 'secret'
const network = 'testnet'
const address = 'addr_test1vqg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygxrcya6'
const transaction = {
  method: 'POST',
  headers: { 'content-type': 'text/plain' },
  payload: '84a0a0f5f6',
} as const

const cases: Readonly<Record<string, Case>> = {
  archivist: {
    plugin: archivist,
    options: (archive) => ({ archive }),
    request: { url: `/block/${headerHash}` },
  },
  explorer: {
    plugin: explorer,
    options: (port) => ({
      reads: port,
      ledger: port,
      queue: port,
      node: { version: '1', role: 'all', network },
      trust: [],
    }),
    request: { url: '/explorer/blocks' },
  },
  faucet: {
    plugin: faucet,
    options: (payer) => ({ payer, token: 'secret', network }),
    request: {
      method: 'POST',
      url: '/faucet/claims',
      headers: { authorization },
      payload: { address, idempotencyKey: 'key', ipHash: 'ip' },
    },
    keepsStatus: true,
  },
  health: {
    plugin: health,
    options: (port) => ({ probes: {}, counters: { lost: (port as { sync: () => number }).sync } }),
    request: { url: '/health/ready' },
    omitsFault: true,
  },
  operator: {
    plugin: operator,
    options: (operations) => ({ operations, operatorToken }),
    request: { url: '/commit', headers: { authorization } },
  },
  'dead letters': {
    plugin: deadLetters,
    options: (letters) => ({ deadLetters: letters, operatorToken }),
    request: { url: '/deadLetters', headers: { authorization } },
  },
  'state queue': {
    plugin: stateQueue,
    options: (port) => ({ queue: port, repair: port, operatorToken }),
    request: { url: '/stateQueue' },
  },
  operators: {
    plugin: operators,
    options: (port) => ({ registry: port, questions: port, verdicts: port, summoner: port, operatorToken }),
    request: { url: '/operators' },
  },
  bridge: {
    plugin: bridge,
    options: (port) => ({
      ports: { bridge: port, deposits: port, withdrawals: port, drafter: port, submitter: port, payer: port },
      operatorToken,
    }),
    request: { url: '/bridge' },
  },
  submit: {
    plugin: submit,
    options: (queue) => ({ queue }),
    request: { ...transaction, url: '/submit' },
    error: 'Failed to enqueue transaction',
    keepsStatus: true,
  },
  evaluate: {
    plugin: evaluate,
    options: (evaluations) => ({ evaluations }),
    request: { ...transaction, url: '/evaluate' },
  },
  'transaction status': {
    plugin: txStatus,
    options: (port) => ({ ledger: port, rejections: port, queue: port }),
    request: { url: `/tx/status?tx_hash=${hash}` },
  },
  queries: {
    plugin: txQuery,
    options: (ledger) => ({ ledger, network }),
    request: { url: `/tx?tx_hash=${hash}` },
  },
  events: {
    plugin: events,
    options: (log) => ({ log, network }),
    request: { url: '/events' },
    status: 503,
    error: 'A service that this server needs does not answer: retry later',
  },
  proofs: {
    plugin: proofs,
    options: (prover) => ({ prover }),
    request: { url: `/proofs/transaction?tx_hash=${hash}` },
  },
}

// The statuses are those of ports that no node has.
for (const { request } of Object.values(cases)) ignoreAnswers(request.url.replace(/\?.*/, ''))

/** A port whose every method rejects with `fault.now`; `sync` throws it. */
function failing(fault: { now: Error }): object {
  const sync = () => {
    throw fault.now
  }
  return new Proxy({ sync }, { get: (_port, name) => (name === 'sync' ? sync : async () => sync()) })
}

type Operation = Readonly<{ operationId: string; tags?: string[]; security?: object[]; responses: object }>

/** A server with every plugin twice, its own error handler, and its own document. */
async function host(t: Test, prepare: (server: FastifyInstance) => void = () => undefined) {
  const server = fastify()
  t.teardown(() => server.close())
  const seen: { handled: number; errors: Error[] } = { handled: 0, errors: [] }
  const fault = { now: new Error('no reason') }
  await server.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Host', version: '1' } } })
  server.setErrorHandler((_error, _request, reply) => {
    seen.handled++
    return reply.code(418).send('of the host')
  })
  server.addHook('onError', async (_request, _reply, error) => void seen.errors.push(error))
  prepare(server)
  for (const prefix of ['', '/v2'])
    for (const { plugin, options } of Object.values(cases))
      await server.register(plugin as FastifyPluginAsync<object>, { prefix, ...options(failing(fault)) })
  await server.ready()
  return { server, seen, fault }
}

t.test('a plugin answers its own errors, and the onError hook of the host gets them', async (t) => {
  const { server, seen, fault } = await host(t)
  for (const [name, { request, status = 500, error, omitsFault }] of Object.entries(cases)) {
    if (omitsFault) continue
    for (const prefix of ['', '/v2']) {
      fault.now = new Error(`of ${name}`)
      seen.errors.length = 0
      const answer = await server.inject({ ...request, url: `${prefix}${request.url}` })
      t.equal(answer.statusCode, status, name)
      t.equal(answer.json().error, error ?? 'Something went wrong', name)
      t.equal(seen.errors.length, 1, name)
      const [caught] = seen.errors
      t.ok(caught === fault.now || caught?.cause === fault.now, `${name}: the hook gets the cause`)
    }
  }
  t.equal(seen.handled, 0)
})

t.test('a port chooses the status of an error that it exposes', async (t) => {
  const { server, fault } = await host(t)
  fault.now = Object.assign(new Error('Closed for today'), { expose: true, statusCode: 451 })
  for (const [name, { request, keepsStatus = false, omitsFault }] of Object.entries(cases)) {
    if (omitsFault) continue
    const answer = await server.inject(request)
    t.equal(answer.statusCode, keepsStatus ? 500 : 451, name)
    if (!keepsStatus) t.equal(answer.json().error, 'Closed for today', name)
  }
})

t.test('a refusal by a hook of the host keeps status, message and headers', async (t) => {
  const refusal: { now?: unknown; code?: number } = {}
  const { server, seen } = await host(t, (server) =>
    server.addHook('preHandler', async (_request, reply) => {
      if (refusal.now === undefined) return
      if (refusal.code !== undefined) reply.code(refusal.code)
      reply.header('retry-after', '7')
      throw refusal.now
    }),
  )
  const secret = 'redis 10.0.0.1'
  const plain = (fields: object, message = 'No entry') => Object.assign(new Error(message), fields)
  for (const [now, statusCode, error, code] of [
    [plain({ statusCode: 401 }), 401, 'No entry'],
    [plain({ status: 403 }), 403, 'No entry'],
    [plain({}), 402, 'No entry', 402],
    [{ statusCode: 429, error: 'Limit', message: 'Slower' }, 429, 'Slower'],
    [plain({ statusCode: 503 }, secret), 503, 'Service Unavailable'],
    [plain({ code: 'FST_UNDER_PRESSURE', statusCode: 503 }, secret), 503, 'Service Unavailable'],
    [plain({ statusCode: 500 }, secret), 500, 'Something went wrong'],
    [plain({}, secret), 500, 'Something went wrong'],
  ] as const) {
    Object.assign(refusal, { now, code })
    for (const [name, { request }] of Object.entries(cases)) {
      const answer = await server.inject(request)
      t.same([answer.statusCode, answer.json()], [statusCode, { error }], `${name}: ${statusCode}`)
      t.equal(answer.headers['retry-after'], '7')
    }
  }
  t.equal(seen.handled, 0)
})

t.test('a rate limit of the host counts all but probes, and tokens that are guessed', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(rateLimit, { max: 0 })
  for (const { plugin, options } of Object.values(cases))
    await server.register(plugin as FastifyPluginAsync<object>, options(failing({ now: new Error() })))
  await server.register(metrics, { registry: prometheus(), operatorToken })
  const requests = Object.entries(cases).map(([name, { request }]) => [name, request] as const)
  for (const [name, request] of [...requests, ['metrics', { url: '/metrics' }] as const]) {
    const { authorization: _token, ...headers } = { ...('headers' in request && request.headers) }
    const answer = await server.inject({ ...request, headers })
    t.equal(answer.statusCode, name === 'health' ? 200 : 429, name)
    if (name !== 'health') t.match(answer.json().error, /^Rate limit exceeded/, name)
  }
})

t.test("a host's own document has unique operation ids, tags, and the token of each operation", async (t) => {
  // Not encapsulated.
  const { server } = await host(t, (server) => void server.register(metrics, { registry: prometheus() }))
  const document = server.swagger() as unknown as {
    readonly paths: Record<string, Record<string, Operation>>
    readonly components: { readonly securitySchemes: object }
  }
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const ids = operations.map(({ operationId }) => operationId)
  t.same([...new Set(ids)], ids)
  t.ok(ids.includes('submit') && ids.includes('submit_v2'))
  for (const { operationId, tags, security, responses } of operations) {
    t.ok(tags?.length, operationId)
    t.equal('401' in responses, security !== undefined, `${operationId} requires a token, and says so`)
  }
  t.same(Object.keys(document.components.securitySchemes).sort(), ['faucetToken', 'operatorToken'])
})
