import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ask } from '@ratatosk/test-kit/http'
import { pino } from 'pino'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { readSettings } from '../index.js'
import { anyPlacement, temporaryDirectory } from '../test/backends.js'
import { askExact, runNode } from '../test/node.js'

const wallet = 'https://wallet.example'
const evil = 'https://evil.example'
const hash = 'ab'.repeat(28)

const open = ['/health/live', '/health/ready', '/tx', '/txs', '/utxos', '/block', '/stateQueue', '/submit']
open.push('/stateQueue/root-unit-diagnostics', '/commitment-wallet/balance')
open.push(`/archivist/block/${hash}`, '/archivist/block/1/body', '/archivist/blocks?from=1&to=2')
const closed = ['/', '/nothing', '/init', '/commit', '/merge', '/reset', '/stateQueue/repair-root-units']
closed.push('/logBlocksTxsDB', '/logGlobals', '/deadLetters', '/deadLetters/1', '/deadLetters/1/replay')
closed.push('/faucet/claims')
const posts = ['/submit', '/faucet/claims', '/deadLetters/1/replay']

const method = (path: string) => (posts.includes(path) ? 'POST' : 'GET')

/** The request of a browser before one that is not simple. */
function preflight(url: string, path: string, origin: string, more: Record<string, string> = {}) {
  const headers = { origin, 'access-control-request-method': method(path), ...more }
  return ask(url + path, { method: 'OPTIONS', headers })
}

const cors = /^access-control-/

function corsHeaders({ headers }: { headers: object }): string[] {
  return Object.keys(headers).filter((name) => cors.test(name))
}

async function start(t: Test, environment: Record<string, string>) {
  const data = { ...(await anyPlacement(t)), FAUCET_TOKEN: 'open-sesame' }
  return (await runNode(t, { ...data, ...environment })).url
}

// Before the first test: tap ends a file while it awaits something between two tests.
const url = await start(t, { CORS_ORIGIN: `${wallet}, http://127.0.0.1:5173` })
const anyOrigin = await start(t, { CORS_ORIGIN: '*', OPERATOR_TOKEN: 'open-sesame' })

t.test('without CORS_ORIGIN, no page of another origin reads anything', async (t) => {
  const url = await start(t, {})
  for (const path of [...open, ...closed]) {
    const answer = await ask(url + path, { method: method(path), headers: { origin: wallet } })
    t.same(corsHeaders(answer), [], path)
    t.notMatch(answer.headers.vary, /origin/i, path)
    t.match(await preflight(url, path, wallet), { status: 404 }, path)
  }
})

t.test('pages of the origins in CORS_ORIGIN read public endpoints, and only those', async (t) => {
  const get = (path: string, origin: string) =>
    ask(url + path, { method: method(path), headers: { origin, 'sec-fetch-site': 'cross-site' } })

  for (const path of open) {
    for (const origin of [wallet, 'http://127.0.0.1:5173']) {
      const { headers } = await get(path, origin)
      t.equal(headers['access-control-allow-origin'], origin, path)
      t.match(headers['access-control-expose-headers'], /Retry-After/)
      t.match(headers.vary, /\borigin\b/i, `${path}: caches keep the answers of origins apart`)
      t.notOk('access-control-allow-credentials' in headers)
    }
    for (const origin of [evil, `${wallet}.evil.example`, 'http://wallet.example', 'null']) {
      const answer = await get(path, origin)
      t.same(corsHeaders(answer), [], `${path} for ${origin}`)
      t.match(answer.headers.vary, /\borigin\b/i)
    }
    t.same(corsHeaders(await ask(url + path, { method: method(path) })), [], `${path} without origin`)
  }
  t.match((await get('/archivist/blocks?from=1&to=2', wallet)).headers.vary, /\baccept\b/i)
  for (const path of closed) t.same(corsHeaders(await get(path, wallet)), [], path)
  for (const path of ['/commit', '/reset', '/logGlobals']) {
    t.equal((await get(path, wallet)).status, 403, `${path} is an operator's`)
  }
})

t.test('preflight requests are answered for these origins and endpoints only', async (t) => {
  const unknown = '{"error":"Not Found","code":"DISABLED"}'
  for (const path of open) {
    const allowed = await preflight(url, path, wallet, { 'access-control-request-headers': 'if-none-match' })
    t.match(allowed, { status: 204, body: '' }, path)
    t.match(allowed.headers, {
      'access-control-allow-origin': wallet,
      'access-control-allow-methods': /GET.*POST/,
      'access-control-allow-headers': /If-None-Match/,
      'access-control-max-age': '600',
      vary: /\borigin\b/i,
    })
    t.notOk('access-control-allow-private-network' in allowed.headers)
    t.match(await preflight(url, path, evil), { status: 404, body: unknown }, path)
    const incomplete = await ask(url + path, { method: 'OPTIONS', headers: { origin: wallet } })
    t.match(incomplete, { status: 404, body: unknown }, `${path} without the method asked for`)
  }
  for (const path of closed) {
    const refused = await preflight(url, path, wallet)
    t.match(refused, { status: 404, body: unknown }, path)
    t.same(corsHeaders(refused), [], path)
  }
  const network = { 'access-control-request-private-network': 'true' }
  const asked = await preflight(url, '/submit', wallet, network)
  t.equal(asked.headers['access-control-allow-private-network'], 'true')
  t.same(corsHeaders(await preflight(url, '/submit', evil, network)), [])
  t.same(corsHeaders(await preflight(url, '/reset', wallet, network)), [])
})

t.test(
  'with CORS_ORIGIN=*, preflight requests pass for all that is public, and for nothing that asks for a token',
  async (t) => {
    const { paths } = JSON.parse((await ask(`${anyOrigin}/openapi.json`)).body)
    const endpoints = Object.entries<Record<string, { security?: unknown[] }>>(paths).flatMap(
      ([path, verbs]) =>
        Object.entries(verbs).map(([verb, { security }]) => ({ path, verb: verb.toUpperCase(), security })),
    )
    const sent = (verb: string) => ({
      method: 'OPTIONS' as const,
      headers: {
        origin: evil,
        'access-control-request-method': verb,
        'access-control-request-headers': 'authorization,content-type,lucid,project_id',
      },
    })
    for (const { path, verb, security } of endpoints) {
      const answer = await ask(anyOrigin + path.replaceAll(/\{\w+\}/g, '1'), sent(verb))
      if (security === undefined) {
        t.match(answer, { status: 204, headers: { 'access-control-allow-origin': '*' } }, `${verb} ${path}`)
        t.notMatch(answer.headers['access-control-allow-headers'], /authorization/i, `${verb} ${path}`)
      } else {
        t.match(answer, { status: 404, body: '{"error":"Not Found","code":"DISABLED"}' }, `${verb} ${path}`)
        t.same(corsHeaders(answer), [], `${verb} ${path}`)
      }
    }
    const guarded = endpoints.filter(({ security }) => security !== undefined).map(({ path }) => path)
    t.match(
      new Set(guarded),
      new Set(['/init', '/commit', '/merge', '/reset', '/remove', '/deadLetters', '/logGlobals']),
    )
    t.ok(guarded.includes('/stateQueue/repair-root-units') && guarded.includes('/faucet/claims'))

    for (const [verb, path] of [
      ['POST', '/blockfrost/api/v0/tx/submit'],
      ['GET', '/blockfrost/api/v0/epochs/latest/parameters'],
      ['GET', '/kupo/matches/*'],
      ['POST', '/ogmios'],
    ] as const) {
      for (const prefix of ['/l2', '/l2/committed', '/l2/merged']) {
        const answer = await ask(anyOrigin + prefix + path, sent(verb))
        t.match(answer, { status: 204, headers: { 'access-control-allow-origin': '*' } }, prefix + path)
        t.match(answer.headers['access-control-allow-headers'], /content-type.*project_id.*lucid/i)
      }
    }
  },
)

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const skip = !existsSync(executablePath) && process.env.RATATOSK_REQUIRE_SERVICES !== '1'

t.test('in Chromium, CORS_ORIGIN=* lets any page read and submit, and reset nothing', { skip }, async (t) => {
  const page = createServer((_request, response) => response.setHeader('content-type', 'text/html').end())
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  t.teardown(() => page.close())
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    env: { ...process.env, HOME: await temporaryDirectory(t) } as Record<string, string>,
  })
  t.teardown(() => browser.close())
  const tab = await browser.newPage()
  await tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/`)
  const results = await tab.evaluate(async (node) => {
    const read = async (path: string, init: RequestInit = {}) => {
      try {
        const response = await fetch(node + path, init)
        return [response.status, await response.text()]
      } catch (error) {
        return String(error)
      }
    }
    return {
      tx: await read('/tx'),
      live: await read('/health/live'),
      unchanged: await read('/archivist/blocks?from=1&to=2', { headers: { 'If-None-Match': '"x"' } }),
      submit: await read('/submit', { method: 'POST', body: '84a0a0f5f6' }),
      reset: await read('/reset'),
      globals: await read('/logGlobals', { headers: { authorization: 'Bearer x' } }),
      unknown: await read('/nothing'),
    }
  }, anyOrigin)
  t.match(results, {
    tx: [400, '{"error":"Invalid transaction hash: undefined"}'],
    live: [200, '{"status":"ok"}'],
    unchanged: [200, '{"blocks":[]}'],
    submit: [200, /^\{"message":"Successfully added the transaction to the queue","id":/],
    reset: 'TypeError: Failed to fetch',
    globals: 'TypeError: Failed to fetch',
    unknown: 'TypeError: Failed to fetch',
  })
})

// A machine that runs many tests at once is slow.
t.setTimeout(600_000)

async function startLogged(t: Test, environment: Record<string, string>) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const node = await runNode(t, { ...(await anyPlacement(t)), ...environment }, { log })
  return { ...node, requests: () => lines.filter(({ msg }) => msg === 'Request') }
}

const given = { 'x-request-id': 'trace:1.a-B_c' }

t.test('sends its own id with every response, and ignores that of a client', async (t) => {
  const { url, requests } = await startLogged(t, {})
  const ids: unknown[] = []
  for (const path of ['/health/live', '/nothing', '/tx', '/health/live']) {
    ids.push((await ask(url + path, { headers: given })).headers['x-request-id'])
  }
  t.equal(new Set(ids).size, 4)
  for (const id of ids) t.match(id, /^[0-9a-f]{8}-\d+$/)
  t.same(requests(), [], 'requests are not logged by default')
})

t.test('uses the id of a trusted proxy, and logs it with errors only', async (t) => {
  const { url, requests } = await startLogged(t, { TRUST_PROXY: 'true', ACCESS_LOG: 'errors' })
  t.equal((await ask(`${url}/health/live`, { headers: given })).headers['x-request-id'], 'trace:1.a-B_c')
  t.equal((await ask(`${url}/tx?tx_hash=secret`, { headers: given })).status, 400)
  t.match(requests(), [{ method: 'GET', path: '/tx', statusCode: 400, reqId: 'trace:1.a-B_c' }])
  for (const id of ['', 'a b', 'ä', 'x'.repeat(129)]) {
    const { headers } = await ask(`${url}/health/live`, { headers: { 'x-request-id': encodeURI(id) } })
    t.match(headers['x-request-id'], /^[0-9a-f]{8}-\d+$/, id)
  }
})

t.test('logs every request with ACCESS_LOG=all', async (t) => {
  const { url, requests } = await startLogged(t, { ACCESS_LOG: 'all' })
  await ask(`${url}/health/live`)
  t.match(requests(), [{ method: 'GET', path: '/health/live', statusCode: 200, ms: Number, ip: '127.0.0.1' }])
})

t.test('refuses an unknown value of ACCESS_LOG', async (t) => {
  t.throws(() => readSettings({ ACCESS_LOG: 'some' }), { message: /one of off, errors, all/ })
})

t.test('shows a browser a page about the node at /, and answers API clients with 404', async (t) => {
  const { url } = await startLogged(t, { SERVE_CONSOLE: 'false' })
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
