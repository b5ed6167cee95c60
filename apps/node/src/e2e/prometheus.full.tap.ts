import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { onServices, temporaryDirectory } from '../test/backends.js'
import { keepAliveClient, watcherPhrase } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

const services = await onServices()
const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0
const missing = hasPrometheus || process.env.RATATOSK_REQUIRE_SERVICES === '1' ? false : 'no prometheus'
/** Seconds for which it scrapes once every panel has a number. */
const seconds = Number(process.env.RATATOSK_PROMETHEUS_SECONDS ?? 0)
const patient = { timeoutMs: 240_000 }

t.setTimeout((seconds + 600) * 1000)

interface Panel {
  readonly title: string
  readonly targets: readonly [{ readonly expr: string }]
}

const dashboard = new URL('../../../../ops/grafana/dashboard.json', import.meta.url)
const { panels }: { panels: readonly Panel[] } = JSON.parse(readFileSync(dashboard, 'utf8'))

t.test(
  'Prometheus scrapes every process of a split deployment, and no panel is empty',
  { skip: services.skip || missing },
  async (t) => {
    const placement = await services.place(t)
    const { genesisFile, transfers } = await manyTransfers(t, 400)
    const common = {
      ...placement,
      GENESIS_FILE: genesisFile,
      SERVE_METRICS: 'true',
      MATURITY_WINDOW_MS: '500',
      WATCHER_SEED_PHRASE: watcherPhrase,
    }
    const nodes = await Promise.all(
      ['api', 'tx-processor', 'sequencer'].map(async (role) =>
        spawnNode(t, { ...common, NODE_ROLE: role, DATA_DIR: await temporaryDirectory(t) }),
      ),
    )
    const url = await startPrometheus(
      t,
      nodes.map((node) => new URL(node.url).host),
    )
    const [api] = nodes
    const client = keepAliveClient(t, api?.url ?? '')
    let sent = 0
    const valuesOf = async (expr: string) =>
      JSON.parse((await ask(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`)).body).data.result
    await until(
      async () => {
        for (const { cborHex } of transfers.slice(sent, sent + 20)) await client.submit(cborHex)
        sent += 20
        // A rule is broken too.
        await client.submit('84a0a0f5f6')
        const results = await Promise.all(panels.map(({ targets: [{ expr }] }) => valuesOf(expr)))
        return results.every((result) => hasNumber(result))
      },
      { what: 'every panel has a number', ...patient },
    )
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(1000))
      await client.submit('84a0a0f5f6')
    if (seconds > 0) {
      const scrapes = await valuesOf(`min_over_time(up[${seconds}s])`)
      t.same(
        scrapes.map(({ value: [, up] }: Vector[number]) => up),
        nodes.map(() => '1'),
        'no scrape failed',
      )
    }
    for (const { title, targets } of panels) t.ok(hasNumber(await valuesOf(targets[0].expr)), title)
    t.equal((await valuesOf('up == 1')).length, nodes.length)
    t.same(await valuesOf('count(ratatosk_node_info) by (role)').then(rolesOf), [
      'api',
      'sequencer',
      'tx-processor',
    ])
    t.comment(`slowest scrape ${(await valuesOf('max(scrape_duration_seconds)'))[0]?.value[1]} s`)
  },
)

type Vector = readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[]

function hasNumber(result: Vector): boolean {
  return result.some(({ value: [, number] }) => Number.isFinite(Number(number)))
}

function rolesOf(result: Vector): readonly (string | undefined)[] {
  return result.map(({ metric }) => metric.role).toSorted()
}

/** @param hosts of the processes that it scrapes every second. @returns its address, once it answers */
async function startPrometheus(t: Parameters<typeof temporaryDirectory>[0], hosts: readonly string[]) {
  const directory = await temporaryDirectory(t)
  const config = join(directory, 'prometheus.yml')
  const scrape = { job_name: 'ratatosk', static_configs: [{ targets: hosts }] }
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [scrape] }))
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  )
  t.teardown(async () => {
    child.kill()
    await once(child, 'close')
  })
  const url = `http://${address}`
  await until(async () => (await ask(`${url}/-/ready`).catch(() => undefined))?.status === 200, {
    what: 'Prometheus answers',
    ...patient,
  })
  return url
}
