import { ask } from '@ratatosk/test-kit/http'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readSettings } from '../index.js'
import { anyPlacement } from '../test/backends.js'
import { askExact, runNode } from '../test/node.js'

// A machine that runs many tests at once is slow.
t.setTimeout(600_000)

async function start(t: Test, environment: Record<string, string>) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const node = await runNode(t, { ...(await anyPlacement(t)), ...environment }, { log })
  return { ...node, requests: () => lines.filter(({ msg }) => msg === 'Request') }
}

const given = { 'x-request-id': 'trace:1.a-B_c' }

t.test('sends its own id with every response, and ignores that of a client', async (t) => {
  const { url, requests } = await start(t, {})
  const ids: unknown[] = []
  for (const path of ['/health/live', '/nothing', '/tx', '/health/live']) {
    ids.push((await ask(url + path, { headers: given })).headers['x-request-id'])
  }
  t.equal(new Set(ids).size, 4)
  for (const id of ids) t.match(id, /^[0-9a-f]{8}-\d+$/)
  t.same(requests(), [], 'requests are not logged by default')
})

t.test('uses the id of a trusted proxy, and logs it with errors only', async (t) => {
  const { url, requests } = await start(t, { TRUST_PROXY: 'true', ACCESS_LOG: 'errors' })
  t.equal((await ask(`${url}/health/live`, { headers: given })).headers['x-request-id'], 'trace:1.a-B_c')
  t.equal((await ask(`${url}/tx?tx_hash=secret`, { headers: given })).status, 400)
  t.match(requests(), [{ method: 'GET', path: '/tx', statusCode: 400, reqId: 'trace:1.a-B_c' }])
  for (const id of ['', 'a b', 'ä', 'x'.repeat(129)]) {
    const { headers } = await ask(`${url}/health/live`, { headers: { 'x-request-id': encodeURI(id) } })
    t.match(headers['x-request-id'], /^[0-9a-f]{8}-\d+$/, id)
  }
})

t.test('logs every request with ACCESS_LOG=all', async (t) => {
  const { url, requests } = await start(t, { ACCESS_LOG: 'all' })
  await ask(`${url}/health/live`)
  t.match(requests(), [{ method: 'GET', path: '/health/live', statusCode: 200, ms: Number, ip: '127.0.0.1' }])
})

t.test('refuses an unknown value of ACCESS_LOG', async (t) => {
  t.throws(() => readSettings({ ACCESS_LOG: 'some' }), { message: /one of off, errors, all/ })
})

t.test('shows a browser a page about the node at /, and answers API clients with 404', async (t) => {
  const { url } = await start(t, { SERVE_CONSOLE: 'false' })
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
  const page = await ask(`${url}/`, { headers: browser })
  t.match(page, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8', vary: 'accept' } })
  t.match(page.body, 'Ratatosk node')
  const links = [...page.body.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path)
  for (const path of ['/docs', '/l2/blockfrost/api/v0/blocks/latest', '/l2/kupo/health', '/l2/ogmios/health'])
    t.ok(links.includes(path), path)
  for (const path of links) t.not((await ask(url + path)).status, 404, path)
  const unknown = await askExact(`${url}/nothing`)
  for (const accept of ['*/*', 'application/json', '']) {
    t.same(await askExact(`${url}/`, { headers: { accept } }), unknown, accept)
  }
  t.match(await ask(`${url}/nothing`, { headers: browser }), { status: 404 })
  t.same(await askExact(`${url}/console`), unknown, 'the console, which is turned off')
})
