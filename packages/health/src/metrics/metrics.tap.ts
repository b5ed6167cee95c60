import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { recordedLog } from '@ratatosk/test-kit/http'
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

t.test('answers 500 for a registry that writes no metrics, and logs what is missing', async (t) => {
  const { stream, records } = recordedLog()
  const server = fastify({ logger: { level: 'error', stream } })
  t.teardown(() => server.close())
  const registry = { answered: () => undefined, read: async () => ({}) as never }
  await server.register(metrics, { registry })
  t.equal((await server.inject('/metrics')).statusCode, 500)
  const message =
    'registry.read() must resolve to { contentType, text }: contentType: Expected required property'
  t.match(records(), [{ err: { message } }])
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

t.test('logs why a metric is omitted, once until it can be read again', async (t) => {
  let fault: unknown
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'warn', stream } })
  t.teardown(() => server.close())
  const read = () => {
    if (fault !== undefined) throw fault
    return [{ value: 4 }]
  }
  const all: Metric[] = [jobs(read), { ...jobs(() => 5 as never), name: 'bare' }]
  await server.register(metrics, { registry: prometheus({ metrics: all }) })
  const scrape = () => server.inject('/metrics')
  await scrape()
  t.match(log(), [
    { metric: 'bare', level: 40, err: { message: 'read must return an array of { value, labels }' } },
  ])
  fault = new Error('password authentication failed')
  for (let n = 0; n < 3; n++) await scrape()
  t.equal(log().length, 2)
  t.match(log()[1], {
    metric: 'jobs',
    level: 40,
    msg: 'The metric cannot be read: scrapes omit it',
    err: { message: 'password authentication failed' },
  })
  fault = undefined
  await scrape()
  fault = 'str'
  await scrape()
  t.equal(log().length, 3)
  t.match(log()[2], { metric: 'jobs', err: 'str' })
})

t.test('refuses metrics that cannot work, by name', (t) => {
  const good = jobs(() => [])
  const place = '@ratatosk/health/metrics: metrics[0]'
  for (const [options, message] of [
    [
      { metric: [] },
      '@ratatosk/health/metrics: there is no option metric; its options are metrics, readTimeoutMs',
    ],
    [{ metrics: {} }, '@ratatosk/health/metrics: metrics must be an array of metrics'],
    [{ readTimeoutMs: 0 }, '@ratatosk/health/metrics: readTimeoutMs must be a whole number from 1'],
    [{ metrics: [null] }, `${place}: name must be letters, digits, _ and :, and begin with no digit`],
    [
      { metrics: [{ ...good, name: 'a-b' }] },
      `${place} (a-b): name must be letters, digits, _ and :, and begin with no digit`,
    ],
    [{ metrics: [{ ...good, help: '' }] }, `${place} (jobs): help must be a text that is not empty`],
    [{ metrics: [{ ...good, kind: 'gauges' }] }, `${place} (jobs): kind must be counter or gauge`],
    [
      { metrics: [{ ...good, labels: ['a-b'] }] },
      `${place} (jobs): labels must be an array of names of letters, digits and _ that begin with no digit`,
    ],
    [{ metrics: [{ ...good, read: undefined }] }, `${place} (jobs): read must be a function`],
    [
      { metrics: [good, good] },
      '@ratatosk/health/metrics: metrics[1] (jobs): name must differ from those of other metrics',
    ],
  ] as const)
    t.throws(() => prometheus(options as never), new TypeError(message), message)
  t.end()
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

t.test('counts a request once, however often a registry is registered', async (t) => {
  const registry = prometheus()
  const { server, lines } = await build(t, { registry })
  const nested = fastify()
  t.teardown(() => nested.close())
  await nested.register(metrics, { registry, prefix: '/a' })
  await nested.register(metrics, { registry, prefix: '/b' })
  nested.get('/items/:id', async () => 'item')
  await nested.inject('/items/7')
  await server.inject('/items/7')
  const count = 'ratatosk_http_request_duration_seconds_count{method="GET",route="/items/:id",status="2xx"}'
  t.ok((await lines()).includes(`${count} 2`))
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
