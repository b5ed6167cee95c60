import { faucet } from '@ratatosk/faucet'
import { health } from '@ratatosk/health'
import { httpErrors, operatorRoute } from '@ratatosk/http'
import { submit } from '@ratatosk/submit'
import { randomName, redisUrl, removeKeys } from '@ratatosk/test-kit'
import { ask, listening, recordedLog, until } from '@ratatosk/test-kit/http'
import { needServices } from '@ratatosk/test-kit/vitest'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { limitLoad } from './serve.js'

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
