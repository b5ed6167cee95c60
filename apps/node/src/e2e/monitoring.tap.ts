import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { breakableProxy, databaseUrl, redisUrl } from '@ratatosk/test-kit'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { parse } from 'yaml'
import { anyPlacement, backends, onServices, servicesMissing } from '../test/backends.js'
import { askExact, initialised, runNode, submit, watcherPhrase } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

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

ignoreAnswers('/metrics')

const ops = new URL('../../../../ops/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, ops), 'utf8')

/** A reader with a replica has the one, a process with peers the other. */
const ofOthers = ['ratatosk_replica_lag_seconds', 'ratatosk_silent_peers']

const patient = { timeoutMs: 240_000 }
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skip = hasPromtool || process.env.RATATOSK_REQUIRE_SERVICES === '1' ? false : 'no promtool'

function promtool(args: readonly string[], input?: string) {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    cwd: fileURLToPath(ops),
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  })
  return { status, text: `${stdout}${stderr}` }
}

const readAll = (url: string) => ask(`${url}/metrics`, { headers: { authorization: 'Bearer secret' } })

/** The samples of a scrape by their name with labels. */
function samplesOf(body: string): Map<string, number> {
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

for (const backend of await backends()) {
  t.test(`/metrics on ${backend.name} follows a payment`, { skip: backend.skip }, async (t) => {
    const { url } = await runNode(t, {
      ...(await backend.place(t)),
      SERVE_METRICS: 'true',
      OPERATOR_TOKEN: 'secret',
      MATURITY_WINDOW_MS: '500',
      WATCHER_SEED_PHRASE: watcherPhrase,
    })
    t.equal((await ask(`${url}/metrics`)).status, 401)
    // On a busy machine a scrape may omit a metric, so all scrapes together are read.
    const now = new Map<string, number>()
    let body = ''
    const scrape = async () => {
      body = (await readAll(url)).body
      for (const [name, value] of samplesOf(body)) now.set(name, value)
    }
    const zeros = [
      'ratatosk_deliveries_total{outcome="accepted"}',
      'ratatosk_deliveries_total{outcome="rejected"}',
      'ratatosk_block_height{state="merged"}',
      'ratatosk_queue_oldest_seconds',
      'ratatosk_invalid_blocks_total',
      'ratatosk_watcher_verdicts{state="unprovable"}',
      'ratatosk_watcher_questions_total{outcome="unanswered"}',
      'ratatosk_watcher_spent_lovelace',
      'ratatosk_watcher_wallet_lovelace',
      'ratatosk_layer1_calls_total{method="submit",outcome="wrong_network"}',
    ]
    await until(
      async () => {
        await scrape()
        return zeros.every((name) => now.get(name) === 0)
      },
      { what: 'counters are there at 0', ...patient },
    )

    const { transfer } = await transferFrom(5, 0)
    t.equal((await submit(url, transfer.cborHex)).status, 200)
    t.equal((await submit(url, '84a0a0f5f6')).status, 200)
    await until(
      async () => {
        await scrape()
        return (
          now.get('ratatosk_block_height{state="merged"}') === 1 &&
          (now.get('ratatosk_block_delay_seconds{state="merged"}') ?? 0) > 0 &&
          now.get('ratatosk_deliveries_total{outcome="rejected"}') === 1 &&
          (now.get('ratatosk_wallet_lovelace') ?? 0) > 1_000_000 &&
          (now.get('ratatosk_layer1_tip_timestamp_seconds') ?? 0) > 1_700_000_000
        )
      },
      { what: 'the block is merged, the other transaction rejected, and layer 1 read', ...patient },
    )
    t.equal(now.get('ratatosk_deliveries_total{outcome="accepted"}'), 1)
    t.equal([...now].filter(([name]) => name.startsWith('ratatosk_rejections_total{')).length, 1)
    t.ok((now.get('ratatosk_layer1_calls_total{method="submit",outcome="ok"}') ?? 0) >= 2)
    t.ok((now.get('ratatosk_last_commit_timestamp_seconds') ?? 0) > 1_700_000_000)
    t.equal(now.get('ratatosk_sequencer_active'), 1)
    t.equal(now.get('ratatosk_watcher_active'), 1)
    t.equal(now.get('ratatosk_watcher_budget_lovelace'), 500_000_000)
    t.ok((now.get('ratatosk_sequencer_lease_expires_timestamp_seconds') ?? 0) > 1_700_000_000)
    for (const name of [
      'ratatosk_batch_deliveries_total',
      'ratatosk_validation_seconds_total{phase="a"}',
      'ratatosk_validation_seconds_total{phase="b"}',
      'ratatosk_block_delay_seconds{state="committed"}',
      'ratatosk_block_delay_seconds{state="merged"}',
      'ratatosk_roots_seconds_total{method="applyWithin"}',
    ])
      t.ok((now.get(name) ?? 0) > 0, name)

    const others = [...now.keys()].filter((name) => !name.startsWith('ratatosk_http'))
    t.ok(others.length <= 400, `${others.length} series`)
    t.ok(now.size <= 1500, `${now.size} series with requests`)

    t.ok(namesInUse().size > 15)
    for (const name of namesInUse())
      if (!ofOthers.includes(name)) t.match(body, new RegExp(`^# TYPE ${name} `, 'm'), name)
    if (skip) return
    const own = body.split('\n').filter((line) => line.includes('ratatosk_'))
    t.same(promtool(['check', 'metrics'], `${own.join('\n')}\n`), { status: 0, text: '' })
  })
}

t.test('the alert rules are sound', { skip }, async (t) => {
  for (const command of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])
    t.match(promtool(command), { status: 0 }, command.join(' '))
})

/** Every metric that the dashboard and the alert rules name. */
function namesInUse(): Set<string> {
  const { panels } = JSON.parse(read('grafana/dashboard.json'))
  const expressions = [
    ...panels.map(({ targets: [{ expr }] }: { targets: [{ expr: string }] }) => expr),
    ...parse(read('alerts.yml')).groups[0].rules.map(({ expr }: { expr: string }) => expr),
  ]
  const names = expressions.join(' ').match(/\b(?:ratatosk|nodejs|process)_\w+/g) ?? []
  return new Set(names.map((name) => name.replace(/_(?:bucket|count)$/, '')))
}
