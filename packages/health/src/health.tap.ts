import { mock } from 'node:test'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import health, { type HealthOptions, health as named, type Probe } from './index.js'

interface LogLine {
  level: number
  msg: string
  subsystem?: string
  err?: { message: string; code?: string }
}

const up: Probe = async () => undefined
const down: Probe = async () => {
  throw new Error('password authentication failed for user "ratatosk"')
}

async function build(t: Test, options: HealthOptions) {
  const log: LogLine[] = []
  const server = fastify({
    logger: { level: 'warn', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
  t.teardown(() => server.close())
  await server.register(health, options)
  await server.ready()
  return { server, log }
}

/** A probe that the test answers by hand. */
function manualProbe() {
  const calls: { signal: AbortSignal; resolve: () => void; reject: (error: unknown) => void }[] = []
  const probe: Probe = (signal) =>
    new Promise((resolve, reject) => {
      calls.push({ signal, resolve, reject })
    })
  return { calls, probe }
}

/** Lets everything run that waits for nothing but its turn. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('exported by default and by name, under its npm name', async (t) => {
  t.equal(health, named)
  const { server } = await build(t, { probes: {} })
  t.ok(server.hasPlugin('@ratatosk/health'))
})

t.test('live: 200 while the process is up, whatever the subsystems do', async (t) => {
  const { server } = await build(t, { probes: { database: down, queue: down, layer1: down } })
  const response = await server.inject('/health/live')
  t.equal(response.statusCode, 200)
  t.equal(response.body, '{"status":"ok"}')
  t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
})

t.test('ready: 200 when every subsystem answers', async (t) => {
  for (const probes of [{}, { database: up }, { database: up, queue: up, layer1: up }]) {
    const { server } = await build(t, { probes })
    const response = await server.inject('/health/ready')
    t.equal(response.statusCode, 200)
    t.equal(response.body, '{"status":"ready"}')
  }
})

t.test('not ready: 503 naming what fails, in the order database, queue, layer1', async (t) => {
  for (const [probes, failing] of [
    [{ database: down }, ['database']],
    [{ database: up, queue: down, layer1: up }, ['queue']],
    [{ layer1: down, queue: up, database: down }, ['database', 'layer1']],
    [{ layer1: down, queue: down, database: down }, ['database', 'queue', 'layer1']],
  ] as const) {
    const { server } = await build(t, { probes })
    const response = await server.inject('/health/ready')
    t.equal(response.statusCode, 503)
    t.equal(response.body, JSON.stringify({ status: 'not_ready', failing }))
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }
})

t.test('the order of the names is not the order of the failures', async (t) => {
  const [database, layer1] = [manualProbe(), manualProbe()]
  const { server } = await build(t, { probes: { database: database.probe, layer1: layer1.probe } })
  const response = server.inject('/health/ready')
  await settled()
  layer1.calls[0]!.reject(new Error('first'))
  await settled()
  database.calls[0]!.reject(new Error('second'))
  t.same((await response).json(), { status: 'not_ready', failing: ['database', 'layer1'] })
})

t.test('why a subsystem fails goes to the log, not to the client', async (t) => {
  const { server, log } = await build(t, { probes: { database: down, queue: up } })
  const response = await server.inject('/health/ready')
  t.notMatch(response.body, /password/)
  t.equal(log.length, 1)
  t.match(log[0], { subsystem: 'database', err: { message: /password authentication failed/ } })
})

t.test('a probe that throws before it promises anything fails alone', async (t) => {
  const { server } = await build(t, {
    probes: {
      database: () => {
        throw new Error('not connected')
      },
      queue: up,
    },
  })
  t.same((await server.inject('/health/ready')).json(), { status: 'not_ready', failing: ['database'] })
})

t.test('probes run side by side', async (t) => {
  const [database, queue, layer1] = [manualProbe(), manualProbe(), manualProbe()]
  const { server } = await build(t, {
    probes: { database: database.probe, queue: queue.probe, layer1: layer1.probe },
  })
  const response = server.inject('/health/ready')
  await settled()
  for (const { calls } of [database, queue, layer1]) {
    t.equal(calls.length, 1, 'asked before any other has answered')
    calls[0]!.resolve()
  }
  t.equal((await response).statusCode, 200)
})

t.test('a probe has 3 s, or as long as the option says', async (t) => {
  for (const [options, limit] of [
    [{}, 3000],
    [{ probeTimeoutMs: 50 }, 50],
  ] as const) {
    const { calls, probe } = manualProbe()
    const { server, log } = await build(t, { probes: { database: probe, queue: up }, ...options })
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())

    const inTime = server.inject('/health/ready')
    await settled()
    mock.timers.tick(limit - 1)
    t.notOk(calls[0]!.signal.aborted)
    calls[0]!.resolve()
    t.equal((await inTime).statusCode, 200)

    const late = server.inject('/health/ready')
    await settled()
    mock.timers.tick(limit)
    t.ok(calls[1]!.signal.aborted, 'the probe is told to give up')
    t.same((await late).json(), { status: 'not_ready', failing: ['database'] })
    t.match(log[0], { subsystem: 'database', err: { code: 'HEALTH_PROBE_TIMEOUT' } })

    calls[1]!.reject(new Error('too late to matter'))
    const next = server.inject('/health/ready')
    await settled()
    calls[2]!.resolve()
    t.equal((await next).statusCode, 200, 'and the next run asks again')
    mock.timers.reset()
  }
})

t.test('a burst of requests is one run of the probes', async (t) => {
  const { calls, probe } = manualProbe()
  const { server, log } = await build(t, { probes: { queue: probe } })
  const burst = Array.from({ length: 20 }, () => server.inject('/health/ready'))
  await settled()
  t.equal(calls.length, 1)
  calls[0]!.reject(new Error('away'))
  for (const response of await Promise.all(burst)) {
    t.same(response.json(), { status: 'not_ready', failing: ['queue'] })
  }
  t.equal(log.length, 1, 'logged once')

  const after = server.inject('/health/ready')
  await settled()
  t.equal(calls.length, 2, 'a later request asks anew')
  calls[1]!.resolve()
  t.equal((await after).statusCode, 200)
})

t.test('HEAD follows GET', async (t) => {
  const { server } = await build(t, { probes: { database: down } })
  for (const [url, status, length] of [
    ['/health/live', 200, '15'],
    ['/health/ready', 503, '45'],
  ] as const) {
    const response = await server.inject({ method: 'HEAD', url })
    t.equal(response.statusCode, status)
    t.equal(response.body, '')
    t.equal(response.headers['content-length'], length)
  }
})

t.test('two instances in one server, each under its prefix', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(health, { prefix: '/a', probes: {} })
  await server.register(health, { prefix: '/b', probes: { queue: down } })
  t.equal((await server.inject('/a/health/ready')).statusCode, 200)
  t.equal((await server.inject('/b/health/ready')).statusCode, 503)
  t.equal((await server.inject('/health/ready')).statusCode, 404)
})

t.test('wrong options stop the start', async (t) => {
  const wrong: [unknown, RegExp][] = [
    [{}, /probes are required/],
    [{ probes: {}, probeTimeoutMs: 0 }, /probeTimeoutMs must be positive/],
    [{ probes: {}, probeTimeoutMs: Number.NaN }, /probeTimeoutMs must be positive/],
  ]
  for (const [options, message] of wrong) {
    const server = fastify()
    await t.rejects(async () => server.register(health, options as HealthOptions), { message })
    await server.close()
  }
})

t.test('the OpenAPI document names every route and status', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(health, { probes: {} })
  await server.ready()
  const { paths } = server.swagger()
  t.same(Object.keys(paths ?? {}), ['/health/live', '/health/ready'])
  t.same(Object.keys(paths?.['/health/live']?.get?.responses ?? {}), ['200'])
  t.same(Object.keys(paths?.['/health/ready']?.get?.responses ?? {}), ['200', '503'])
  t.matchOnlyStrict(paths?.['/health/ready']?.get?.responses?.['503'], {
    description: 'A subsystem does not answer',
    content: { 'application/json': { schema: Object } },
  })
})
