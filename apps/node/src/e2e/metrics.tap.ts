import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { parse } from 'yaml'
import { backends } from '../test/backends.js'
import { runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'
import { watcherPhrase } from '../test/watching.js'

ignoreAnswers('/metrics')

const ops = new URL('../../../../ops/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, ops), 'utf8')

/** A reader with a replica has it: see the full run. */
const ofReplicas = 'ratatosk_replica_lag_seconds'

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
      if (name !== ofReplicas) t.match(body, new RegExp(`^# TYPE ${name} `, 'm'), name)
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
