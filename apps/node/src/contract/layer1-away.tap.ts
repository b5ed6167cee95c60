import t from 'tap'
import { bothBackends } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { type Answer, ask } from '../test/http.js'
import { initialised } from '../test/initialised.js'
import { runNode } from '../test/node.js'
import { until } from '../test/until.js'

// Embedded databases are slow to begin where many tests share the processor.
t.setTimeout(600_000)

const reads = ['/stateQueue', '/stateQueue/root-unit-diagnostics', '/commitment-wallet/balance']
const json = ({ status, body }: Answer) => ({ status, body: JSON.parse(body) })
const [embedded, services] = await bothBackends()

t.test('while the provider fails, reads say how, readiness names it, and nothing is lost', async (t) => {
  const layer1 = await devnetServer(t)
  const node = await runNode(t, {
    ...(await embedded.place(t)),
    ...layer1.settings,
    BLOCK_VALIDITY_MS: '10000',
    HEALTH_PROBE_TIMEOUT_MS: '1000',
  })
  const get = async (path: string) => json(await ask(`${node.url}${path}`))
  await initialised(node.url)

  layer1.devnet.faults.inject({ kind: 'failure', face: 'blockfrost', times: Number.POSITIVE_INFINITY })
  for (const path of reads) {
    t.match(
      await get(path),
      { status: 503, body: { status: 'error', error: String, cause: 'provider error' } },
      path,
    )
  }
  t.match(await get('/commit'), { status: 503, body: { status: 'error', cause: 'provider error' } })
  t.same(await get('/health/ready'), { status: 503, body: { status: 'not_ready', failing: ['layer1'] } })
  t.equal((await get('/health/live')).status, 200)

  layer1.devnet.faults.clear()
  for (const path of reads) t.equal((await get(path)).status, 200, path)
  await until(async () => (await get('/health/ready')).status === 200)
  await until(async () => (await get('/commit')).status === 200)
})

t.test('an api node without a sequencer says so in time', { skip: services.skip }, async (t) => {
  const layer1 = await devnetServer(t)
  const placement = await services.place(t)
  const run = (environment: Record<string, string>) =>
    runNode(t, { ...placement, ...layer1.settings, ...environment })
  const api = await run({ NODE_ROLE: 'api', OPERATION_TIMEOUT_MS: '1000' })
  const late = json(await ask(`${api.url}/commit`))
  t.equal(late.status, 504)
  t.type(late.body.error, 'string')

  const sequencer = await run({ NODE_ROLE: 'sequencer', BLOCK_VALIDITY_MS: '10000' })
  const patient = await run({ NODE_ROLE: 'api' })
  await initialised(patient.url)
  t.same(json(await ask(`${patient.url}/commit`)), {
    status: 200,
    body: { message: 'Nothing to commit', transactions: 0 },
  })
  t.equal(await sequencer.store.blocks.newest(), undefined, 'what came too late did not run')
})

t.test('a devnet that no process runs is away, not an error', { skip: services.skip }, async (t) => {
  const placement = await services.place(t)
  const api = await runNode(t, { ...placement, NODE_ROLE: 'api', HEALTH_PROBE_TIMEOUT_MS: '500' })
  t.match(await ask(`${api.url}/health/ready`), {
    status: 503,
    body: '{"status":"not_ready","failing":["layer1"]}',
  })
  t.match(json(await ask(`${api.url}/commitment-wallet/balance`)), {
    status: 503,
    body: { status: 'error', cause: 'unreachable' },
  })
  await runNode(t, { ...placement, NODE_ROLE: 'sequencer' })
  await until(async () => (await ask(`${api.url}/health/ready`)).status === 200)
  t.match(json(await ask(`${api.url}/commitment-wallet/balance`)), { status: 200 })
})
