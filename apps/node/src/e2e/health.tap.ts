import { breakableProxy, databaseUrl, redisUrl } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, backends, onServices, servicesMissing } from '../test/backends.js'
import { askExact, initialised, runNode } from '../test/node.js'

for (const backend of await backends()) {
  t.test(`/health/* on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const { url } = await runNode(t, await backend.place(t))

    t.match(await ask(`${url}/health/live`), { status: 200, body: '{"status":"ok"}' })
    t.match(await ask(`${url}/health/ready`), { status: 200, body: '{"status":"ready"}' })
    for (const path of ['/health/live', '/health/ready']) {
      const get = await askExact(`${url}${path}`)
      t.same(await askExact(`${url}${path}`, { method: 'HEAD' }), { ...get, body: '' }, `HEAD ${path}`)
      t.match(get.headers, { 'content-type': 'application/json; charset=utf-8' })
    }
  })
}

t.test('readiness says that the clock is behind layer 1, until it is not', async (t) => {
  let behind = 0
  const { url } = await runNode(t, await anyPlacement(t), { clock: () => Date.now() - behind })
  const ready = () => ask(`${url}/health/ready`)
  t.match(await ready(), { status: 200 })
  // Layer 1 has a block then.
  await initialised(url)
  behind = 3_600_000
  await until(async () => (await ready()).status === 503)
  const { body } = await ready()
  t.match(JSON.parse(body), { failing: ['layer1'], reasons: { layer1: / 3\d\d\d s ahead / } })
  behind = 0
  t.match(await ready(), { status: 200 })
})

t.test(
  'readiness names the failing subsystems, and only those',
  { skip: await servicesMissing() },
  async (t) => {
    const services = await onServices()
    const placement = await services.place(t)
    const database = await breakableProxy(databaseUrl)
    const queue = await breakableProxy(redisUrl)
    for (const proxy of [database, queue]) t.teardown(() => proxy.close())
    const { url } = await runNode(t, {
      ...placement,
      DATABASE_URL: database.url,
      REDIS_URL: queue.url,
      HEALTH_PROBE_TIMEOUT_MS: '1000',
      INDEX_MAX_LAG_MS: '600000',
    })
    const ready = () => ask(`${url}/health/ready`)
    const reasonOf: Readonly<Record<string, string>> = {
      database: 'The database does not answer: start PostgreSQL, or correct DATABASE_URL',
      queue: 'The queue does not answer: start Redis, or correct REDIS_URL',
    }
    const failing = (...names: string[]) => {
      const reasons = Object.fromEntries(names.map((name) => [name, reasonOf[name]]))
      return { status: 503, body: JSON.stringify({ status: 'not_ready', failing: names, reasons }) }
    }

    t.match(await ready(), { status: 200 })
    await queue.break()
    t.match(await ready(), failing('queue'))
    await database.break()
    t.match(await ready(), failing('database', 'queue'))
    t.match(await ask(`${url}/health/live`), { status: 200, body: '{"status":"ok"}' })
    await queue.mend()
    await until(async () => (await ready()).body === failing('database').body)
    await database.mend()
    await until(async () => (await ready()).status === 200)
  },
)
