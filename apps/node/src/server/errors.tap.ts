import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { ask, exchange, type Question, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { embedded } from '../test/backends.js'
import { askExact, runNode } from '../test/node.js'

const { url } = await runNode(t, {
  ...(await embedded(t)),
  REQUEST_TIMEOUT_MS: '1000',
  MAX_CONNECTIONS: '5',
})

t.test(
  'whatever is not served answers as an unknown path does, byte for byte, headers included',
  async (t) => {
    const json = { 'content-type': 'application/json' }
    const questions: readonly Question[] = [
      ...METHODS.filter((method) => method !== 'CONNECT').map((method) => ({ method })),
      { method: 'POST', headers: json, body: '{"address":"addr_test1"}' },
      { method: 'POST', headers: json, body: '{' },
      { method: 'POST', headers: { 'content-type': 'application/xml' }, body: 'x'.repeat(100_000) },
    ]
    const reads = ['/health/live', '/health/ready', '/tx', '/txs', '/utxos', '/block', '/stateQueue']
    reads.push(
      '/stateQueue/root-unit-diagnostics',
      '/commitment-wallet/balance',
      '/logBlocksTxsDB',
      '/logGlobals',
    )
    const operations = ['/init', '/commit', '/merge', '/reset', '/remove', '/stateQueue/repair-root-units']
    for (const question of questions) {
      const { method = '' } = question
      const expected = await askExact(`${url}/nothing`, question)
      t.equal(expected.status, 404, method)
      t.equal(expected.body, method === 'HEAD' ? '' : '{"error":"Not Found","code":"DISABLED"}')
      const paths = ['/', '/tx/', '/TX', '/health', '/health/live/', '/faucet/claims', '/block/1']
      if (method !== 'POST') paths.push('/submit')
      if (method !== 'GET') paths.push(...operations)
      if (method !== 'GET' && method !== 'HEAD') paths.push(...reads)
      for (const path of paths)
        t.same(await askExact(`${url}${path}`, question), expected, `${method} ${path}`)
    }
  },
)

t.test('answers errors before routing as JSON', async (t) => {
  for (const [name, request, status, error] of [
    [
      'headers too large',
      `GET /health/live HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
    ],
    ['headers too slow', 'GET /health/live HTTP/1.1\r\nhost: a\r\n', 408, 'Request Timeout'],
    [
      'a body too slow',
      'POST /submit HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n84a4',
      408,
      'Request Timeout',
    ],
    [
      'a body too large',
      'POST /submit HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: ' +
        'text/plain\r\ncontent-length: 99999\r\n\r\n',
      413,
      'Request body is too large',
    ],
    ['no HTTP', '84a400\r\n\r\n', 400, 'Bad Request'],
    ['no Host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'Missing Host header'],
    [
      'a malformed path',
      'GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
      400,
      "'/%zz' is not a valid url component",
    ],
  ] as const) {
    const answer = await exchange(Number(new URL(url).port), request)
    t.equal(answer.status, status, name)
    t.match(answer.head, 'content-type: application/json; charset=utf-8', name)
    t.equal(answer.body, JSON.stringify({ error }), name)
  }
})

t.test('beyond MAX_CONNECTIONS, every route but /health/live answers 503 with Retry-After', async (t) => {
  const sockets = Array.from({ length: 5 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) socket.write('GET /tx HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => sockets.every(({ bytesRead }) => bytesRead > 0))
  const posts = ['/submit', '/faucet/claims', '/deadLetters/1/replay']
  const gets = ['/health/ready', '/tx', '/txs', '/utxos', '/block', '/stateQueue', '/commit', '/reset']
  gets.push(
    '/stateQueue/root-unit-diagnostics',
    '/stateQueue/repair-root-units',
    '/commitment-wallet/balance',
  )
  gets.push(
    '/init',
    '/merge',
    '/logBlocksTxsDB',
    '/logGlobals',
    '/deadLetters',
    '/archivist/block/1',
    '/nothing',
  )
  for (const [method, paths] of Object.entries({ GET: gets, POST: posts })) {
    for (const path of paths) {
      const answer = await ask(url + path, { method })
      t.equal(answer.status, 503, path)
      t.equal(answer.body, '{"error":"Too many connections: retry later"}', path)
      t.match(answer.headers, { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' })
    }
  }
  t.match(await ask(`${url}/health/live`), { status: 200, body: '{"status":"ok"}' })
  sockets[0]?.destroy()
  await until(async () => (await ask(`${url}/health/ready`)).status === 200)
})

t.test('an internal error reveals nothing', async (t) => {
  const broken = await runNode(t, await embedded(t))
  await broken.store.close()
  const answer = await ask(`${broken.url}/tx?tx_hash=${'ab'.repeat(32)}`)
  t.match(answer, { status: 500, body: '{"error":"Something went wrong"}' })
})
