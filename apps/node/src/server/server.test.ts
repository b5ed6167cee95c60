import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { faucet } from '@ratatosk/faucet'
import { health } from '@ratatosk/health'
import { explainErrors, HttpError, httpErrors, OverloadedError, operatorRoute } from '@ratatosk/http'
import { submit } from '@ratatosk/submit'
import { randomName, redisUrl, removeKeys } from '@ratatosk/test-kit'
import { ask, listening, recordedLog, until } from '@ratatosk/test-kit/http'
import { needServices } from '@ratatosk/test-kit/vitest'
import { fastify } from 'fastify'
import { pino } from 'pino'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { readSettings } from '../settings/read.js'
import { settingNotes } from '../settings/schema.js'
import { createServer } from './create-server.js'
import { helpOf, logOptions } from './logger.js'
import { landingPage, limitLoad } from './serve.js'

describe('create server', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test('a plugin that never finishes ends the start with its name', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const server = createServer(readSettings({}), pino({ level: 'silent' }))
    server.register(function forgetful(_server, _options, _done) {})
    const ready = expect(server.ready()).rejects.toThrow(/did not start in time: 'forgetful'/)
    await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(600_000)
    await ready
  })
})

describe('landing page', () => {
  async function linksOf(...served: readonly string[]): Promise<readonly string[]> {
    const server = fastify()
    landingPage(server)
    for (const path of served) server.get(path, async () => 'served')
    const { body } = await server.inject({ url: '/', headers: { accept: 'text/html' } })
    return [...body.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path)
  }

  test('the page for browsers links what the node serves, and nothing else', async () => {
    expect(await linksOf()).toEqual([])
    const served = ['/docs', '/health/ready', '/l2/kupo/health']
    expect(await linksOf('/nothing', ...served)).toEqual(served)
  })

  test('with a console, a browser is sent there and API clients get the 404', async () => {
    const server = fastify()
    landingPage(server)
    server.get('/console', async () => 'served')
    const browser = await server.inject({ url: '/', headers: { accept: 'text/html' } })
    expect([browser.statusCode, browser.headers.location, browser.headers.vary]).toEqual([
      302,
      'console',
      'accept',
    ])
    expect((await server.inject({ url: '/' })).statusCode).toBe(404)
  })
})

const root = fileURLToPath(new URL('../../../..', import.meta.url))
/** They are not published, or make no errors. */
const privateFolders = /^(test-kit|test-vectors|fixtures)$/

/** They look like codes of ours: codes of others, parts of codes, a file. */
const others =
  /^(ERR|FST|HPE|UND|WS_ERR)_|^(DEAD_LETTERS|TX_QUERY|TX_STATUS)_?$|^PG_VERSION$|^SHOP_|^XDG_|^RATATOSK_/

/** The text of every source that is not a test. */
function sources(): string[] {
  return ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).flatMap((name) => {
      const folder = join(root, parent, name, 'src')
      if (privateFolders.test(name)) return []
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(
          (path) =>
            path.endsWith('.ts') && !/(^|\/)(test|e2e)\/|^server\/help\.ts$|\.(test|tap)\.ts$/.test(path),
        )
        .map((path) => readFileSync(join(folder, path), 'utf8'))
    }),
  )
}

const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const anchors = [...page.matchAll(/<a id="(\w+)"><\/a>`\1(?:_\*)?`/g)].map(([, id = '']) => id)

test('every code in the sources has an entry, and every entry a code', () => {
  const text = sources().join('\n')
  const literals = new Set([...text.matchAll(/'([A-Z][A-Z0-9]*_[A-Z0-9_]+)'/g)].map(([, code = '']) => code))
  for (const [, prefix = ''] of text.matchAll(/new InvalidParameterError\(\s*'([A-Z_]+)'/g))
    literals.add(`${prefix}_INVALID_PARAMETER`)
  const isSetting = (code: string) => settingNotes.has(code) || settingNotes.has(code.replace(/_FILE$/, ''))
  const codes = [...literals].filter((code) => !others.test(code) && !isSetting(code))
  expect(codes.length).toBeGreaterThan(150)
  const entryOf = (code: string) => helpOf({ code })?.split('#')[1] ?? 'none'
  expect(codes.filter((code) => !anchors.includes(entryOf(code)))).toEqual([])

  expect(new Set(anchors).size).toBe(anchors.length)
  const used = new Set(codes.map(entryOf))
  // Quoted, or a key of the faucet's table.
  const isUsed = (entry: string) => used.has(entry) || new RegExp(`\\b${entry}\\b`).test(text)
  expect(anchors.filter((entry) => !isUsed(entry))).toEqual([])
})

test('help leads to the entry of an error, and is for our errors only', () => {
  const url = 'https://github.com/ratatosk-l2/ratatosk/blob/main/docs/errors.md'
  expect(helpOf(new OverloadedError())).toBe(`${url}#HTTP_OVERLOADED`)
  expect(helpOf({ code: 'CBOR_TOO_DEEP' })).toBe(`${url}#CBOR`)
  for (const value of [{ code: 'ENOENT' }, { code: 7 }, new Error('x'), undefined, 'HTTP_OVERLOADED'])
    expect(helpOf(value)).toBe(undefined)
})

test('a log line links to the code of its error, or its own', () => {
  const log = recordedLog()
  const logger = pino(logOptions({ LOG_LEVEL: 'info' }), log.stream)
  logger.warn({ err: new OverloadedError() }, 'refused')
  logger.warn({ code: 'QUEUE_REDIS_MAY_EVICT' }, 'Redis may evict jobs')
  logger.warn({ err: new Error('unexpected'), count: 3 }, 'failed')
  logger.info('up')
  const [refused, evicts, failed, up] = log.records()
  expect(refused).toMatchObject({
    help: helpOf({ code: 'HTTP_OVERLOADED' }),
    err: { code: 'HTTP_OVERLOADED' },
  })
  expect(evicts).toMatchObject({ help: helpOf({ code: 'QUEUE_REDIS_MAY_EVICT' }) })
  expect(failed).toMatchObject({ count: 3, err: { message: 'unexpected' } })
  for (const record of [failed, up]) expect(record).not.toHaveProperty('help')
})

test('an answer links to its error, if clients may know it, and its body is the same', async () => {
  const server = fastify()
  onTestFinished(() => server.close())
  explainErrors(server, helpOf)
  await server.register(httpErrors)
  const thrown: Readonly<Record<string, Error>> = {
    known: new OverloadedError(),
    hidden: Object.assign(new Error('secret'), { code: 'STORE_FAILED' }),
    foreign: new HttpError(418, 'SHOP_TEAPOT', 'Short and stout'),
  }
  for (const [name, error] of Object.entries(thrown))
    server.get(`/${name}`, async () => {
      throw error
    })
  const known = await server.inject('/known')
  expect(known.headers.link).toMatch(/^<https:.*\/errors\.md#HTTP_OVERLOADED>; rel="help"$/)
  expect(known.json()).toEqual({ error: 'The node is overloaded: retry later' })
  expect((await server.inject('/nothing')).headers.link).toMatch(/#DISABLED>/)
  for (const name of ['hidden', 'foreign'])
    expect((await server.inject(`/${name}`)).headers.link, name).toBe(undefined)
})

const hex = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '80' }
const exempt = ['/health/live', '/health/ready', '/operator']

type Limits = Parameters<typeof limitLoad>[1]

async function serverWith(limits: Partial<Limits>) {
  const log = recordedLog()
  const server = fastify({ logger: { level: 'warn', stream: log.stream } })
  onTestFinished(() => server.close())
  await server.register(httpErrors)
  await limitLoad(server, {
    MAX_EVENT_LOOP_DELAY_MS: 0,
    QUEUE_PREFIX: 'none',
    RATE_LIMIT: 0,
    ...limits,
  })
  await server.register(health, { probes: { database: async () => undefined } })
  await server.register(submit, { queue: { add: async () => 'entry' } })
  const payer = { claim: async () => ({ kind: 'depleted' as const }) }
  await server.register(faucet, { token: 'secret', network: 'testnet', payer })
  server.get('/operator', operatorRoute(), async () => 'done')
  server.get('/page', async () => 'page')
  return { ...(await listening(server)), log }
}

/** Blocks the event loop in turns of this length, as long as the test runs. */
function blockLoop(turnMs: number): () => void {
  let timer = setTimeout(block)
  function block() {
    const end = performance.now() + turnMs
    while (performance.now() < end);
    timer = setTimeout(block)
  }
  return () => clearTimeout(timer)
}

test('an overloaded server refuses all but health, metrics and operator routes', async () => {
  const { url, get, log } = await serverWith({ MAX_EVENT_LOOP_DELAY_MS: 20 })
  expect((await ask(`${url}/submit`, hex)).status).toBe(200)
  const release = blockLoop(60)
  onTestFinished(release)
  await until(async () => (await get('/page')).status === 503)
  const page = await get('/page')
  expect(page).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect(page.body).toBe('{"error":"The node is overloaded: retry later"}')
  const submitted = await ask(`${url}/submit`, hex)
  expect(submitted).toMatchObject({ status: 500, headers: { 'retry-after': '1' } })
  expect(submitted.body).toBe('{"error":"Failed to enqueue transaction"}')
  expect((await get('/nothing')).status).toBe(503)
  for (const path of exempt) expect((await get(path)).status, path).toBe(200)
  const records = log.records()
  expect(records, 'one line for all refusals').toMatchObject([
    { level: 40, msg: 'Overloaded: requests are refused', eventLoopDelay: 1 },
  ])
  release()
  await until(async () => (await get('/page')).status === 200)
  expect((await ask(`${url}/submit`, hex)).status).toBe(200)
})

test('an address may send so many requests in a minute', async () => {
  const { url, get } = await serverWith({ RATE_LIMIT: 2 })
  expect((await get('/page')).status).toBe(200)
  expect((await ask(`${url}/submit`, hex)).status).toBe(200)
  const refused = await get('/page')
  expect(refused.status).toBe(429)
  expect(refused.body).toBe('{"error":"Too many requests: retry later"}')
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await ask(`${url}/submit`, hex)).status).toBe(429)
  expect((await ask(`${url}/faucet/claims`, { method: 'POST' })).status).toBe(401)
  for (const path of exempt) expect((await get(path)).status, path).toBe(200)
})

test('servers with one Redis count together', async (context) => {
  await needServices(context)
  const prefix = randomName()
  onTestFinished(() => removeKeys(prefix))
  const limits = { RATE_LIMIT: 20, REDIS_URL: redisUrl, QUEUE_PREFIX: prefix }
  const first = await serverWith(limits)
  const second = await serverWith(limits)
  // Before the connection is open, requests are not counted.
  for (const { get } of [second, first])
    await until(async () => (await get('/page')).headers['x-ratelimit-remaining'] !== '20')
  await until(async () => (await first.get('/page')).status === 429)
  expect((await second.get('/page')).status).toBe(429)
})

test('without Redis, requests are served and not limited', async () => {
  const { get, log } = await serverWith({ RATE_LIMIT: 1, REDIS_URL: 'redis://127.0.0.1:1' })
  for (let n = 0; n < 3; n++) expect((await get('/page')).status).toBe(200)
  await until(() => log.records().length > 0)
  expect(log.records()[0]?.msg).toBe('Redis counts no requests: they are not limited')
})
