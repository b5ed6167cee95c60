import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import metrics, { type Metric, type MetricsOptions, metrics as named, prometheus } from './index.js'

for (const path of ['/metrics', '/items/7', '/l2/committed/kupo/matches']) ignoreAnswers(path)

async function build(t: Test, options: MetricsOptions) {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(metrics, options)
  server.get('/items/:id', async () => 'item')
  server.get('/l2/committed/kupo/matches', async () => 'matches')
  await server.ready()
  const lines = async () => (await server.inject('/metrics')).body.split('\n')
  return { server, lines }
}

const jobs = (read: Metric['read']): Metric => ({ name: 'jobs', help: 'Jobs', kind: 'gauge', read })

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(metrics, named)
  const { server } = await build(t, { registry: prometheus() })
  t.ok(server.hasPlugin('@ratatosk/health/metrics'))
  await t.rejects(
    async () => fastify().register(metrics, {} as MetricsOptions),
    /@ratatosk\/health\/metrics: registry/,
  )
})

t.test('reads metrics at each scrape, and forgets labels that are gone', async (t) => {
  let samples = [
    { value: 0, labels: { state: 'a' } },
    { value: 3, labels: { state: 'b' } },
  ]
  const all: Metric[] = [
    { name: 'done_total', help: 'Done', kind: 'counter', labels: ['state'], read: () => samples },
    jobs(async () => [{ value: -2 }]),
  ]
  const { server, lines } = await build(t, { registry: prometheus({ metrics: all }) })
  const first = await server.inject('/metrics')
  t.match(first.headers['content-type'], /^text\/plain; version=0\.0\.4/)
  t.equal(first.headers['cache-control'], 'no-store')
  const text = first.body.split('\n')
  for (const line of [
    '# TYPE done_total counter',
    'done_total{state="a"} 0',
    'done_total{state="b"} 3',
    'jobs -2',
  ])
    t.ok(text.includes(line), line)
  samples = [{ value: 5, labels: { state: 'b' } }]
  t.same(
    (await lines()).filter((line) => line.startsWith('done_total')),
    ['done_total{state="b"} 5'],
  )
})

t.test('omits what cannot be read, counts it, and serves the rest', async (t) => {
  let broken = true
  const all: Metric[] = [
    jobs(async () => {
      if (broken) throw new Error('password authentication failed')
      return [{ value: 4 }]
    }),
    { ...jobs(() => new Promise(() => undefined)), name: 'stuck' },
    { ...jobs(() => []), name: 'labelled', labels: ['state'] },
    { ...jobs(() => 5 as never), name: 'bare' },
    { ...jobs(() => [{ value: 'five' as never }]), name: 'text' },
    { ...jobs(() => [{ value: 1, labels: { other: 'a' } }]), name: 'unknown_label' },
    { ...jobs(() => [{ value: 1 }]), name: 'sound' },
  ]
  const { lines } = await build(t, { registry: prometheus({ metrics: all, readTimeoutMs: 1 }) })
  const first = await lines()
  t.notOk(first.some((line) => /^(jobs|stuck|labelled|bare|text|unknown_label)\b/.test(line)))
  t.ok(first.includes('sound 1'))
  for (const [name, count] of Object.entries({
    jobs: 1,
    stuck: 1,
    bare: 1,
    text: 1,
    unknown_label: 1,
    sound: 0,
  }))
    t.ok(first.includes(`ratatosk_metrics_failures_total{metric="${name}"} ${count}`), name)
  broken = false
  t.ok((await lines()).includes('jobs 4'), 'it recovers')
})

t.test('scrapes at the same time share one read', async (t) => {
  let reads = 0
  const registry = prometheus({
    metrics: [
      jobs(async () => {
        reads++
        return [{ value: reads }]
      }),
    ],
  })
  await Promise.all([registry.read(), registry.read(), registry.read()])
  t.equal(reads, 1)
  await registry.read()
  t.equal(reads, 2)
})

t.test('times requests by the pattern of their route', async (t) => {
  const { server, lines } = await build(t, { registry: prometheus() })
  for (const url of ['/items/7', '/items/8', '/l2/committed/kupo/matches', '/nothing?secret=1'])
    await server.inject(url)
  const counts = (await lines()).filter((line) =>
    line.startsWith('ratatosk_http_request_duration_seconds_count'),
  )
  const count = (labels: string, value: number) =>
    `ratatosk_http_request_duration_seconds_count{${labels}} ${value}`
  t.same(counts, [
    count('method="GET",route="/items/:id",status="2xx"', 2),
    count('method="GET",route="/l2/committed/kupo",status="2xx"', 1),
    count('method="any",route="none",status="4xx"', 1),
  ])
})

t.test('has a bounded number of series, whatever is requested', async (t) => {
  const registry = prometheus()
  for (let n = 0; n < 1000; n++)
    registry.answered({ method: 'GET', route: `/${n}`, status: 200, seconds: 0.1 })
  const series = (await registry.read()).text.split('\n').filter((line) => line.startsWith('ratatosk_http'))
  t.ok(series.length <= 151 * 8, `${series.length} series`)
  t.ok(series.some((line) => /_count\{method="any",route="other",status="2xx"\} 850$/.test(line)))
})

t.test('asks for the token, under any host name; without a token only for loopback', async (t) => {
  const get = { url: '/metrics', headers: { host: '10.0.0.7:3000' } }
  const { server } = await build(t, { registry: prometheus(), operatorToken: 'secret' })
  t.equal((await server.inject(get)).statusCode, 401)
  const headers = { ...get.headers, authorization: 'Bearer secret' }
  t.equal((await server.inject({ ...get, headers })).statusCode, 200)

  const open = (await build(t, { registry: prometheus() })).server
  t.equal((await open.inject(get)).statusCode, 403)
  t.equal((await open.inject('/metrics')).statusCode, 200)
})
