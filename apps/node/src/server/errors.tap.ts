import { METHODS } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { temporaryDirectory } from '../test/backends.js'
import { ask, type Question } from '../test/http.js'
import { runNode } from '../test/node.js'

// Embedded databases are slow to begin where many tests share the processor.
t.setTimeout(600_000)

/** Writes bytes to a node and reads until it closes the connection. */
function exchange(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

const node = await runNode(t, { DATA_DIR: await temporaryDirectory(t), REQUEST_TIMEOUT_MS: '1000' })
const { url } = node

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
    const operations = ['/init', '/commit', '/merge', '/reset', '/stateQueue/repair-root-units']
    for (const question of questions) {
      const { method = '' } = question
      const expected = await ask(`${url}/nothing`, question)
      t.equal(expected.status, 404, method)
      t.equal(expected.body, method === 'HEAD' ? '' : '{"error":"Not Found","code":"DISABLED"}')
      const paths = ['/', '/tx/', '/TX', '/health', '/health/live/', '/faucet/claims', '/block/1']
      if (method !== 'POST') paths.push('/submit')
      if (method !== 'GET') paths.push(...operations)
      if (method !== 'GET' && method !== 'HEAD') paths.push(...reads)
      for (const path of paths) t.same(await ask(`${url}${path}`, question), expected, `${method} ${path}`)
    }
  },
)

t.test('errors from before there is a route are JSON', async (t) => {
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
    ['no HTTP', '84a400\r\n\r\n', 400, 'Bad Request'],
    ['no Host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'Missing Host header'],
    [
      'a malformed path',
      'GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
      400,
      "'/%zz' is not a valid url component",
    ],
  ] as const) {
    const answer = await exchange(url, request)
    t.match(answer, `HTTP/1.1 ${status} `, name)
    t.match(answer, 'content-type: application/json; charset=utf-8', name)
    t.equal(answer.split('\r\n\r\n')[1], JSON.stringify({ error }), name)
  }
})

t.test('a failure inside tells nothing', async (t) => {
  const broken = await runNode(t, { DATA_DIR: await temporaryDirectory(t) })
  await broken.store.close()
  const answer = await ask(`${broken.url}/tx?tx_hash=${'ab'.repeat(32)}`)
  t.match(answer, { status: 500, body: '{"error":"Something went wrong"}' })
})
