import { mock } from 'node:test'
import swagger from '@fastify/swagger'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { golden, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import health, { type HealthOptions, health as named, type Probe, ReadinessError } from './index.js'

// With probes and counters that no node has.
ignoreAnswers('/health/ready')

const up: Probe = async () => undefined
const down: Probe = async () => {
  throw new Error('password authentication failed for user "ratatosk"')
}

async function build(t: Test, options: HealthOptions) {
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'warn', stream } })
  t.teardown(() => server.close())
  await server.register(health, options)
  await server.ready()
  return { server, log }
}

/** A probe that the test settles by hand. */
function manualProbe() {
  const calls: { signal: AbortSignal; resolve: () => void; reject: (error: unknown) => void }[] = []
  const probe: Probe = (signal) =>
    new Promise((resolve, reject) => {
      calls.push({ signal, resolve, reject })
    })
  return { calls, probe }
}

/** Lets pending promises settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(health, named)
  const { server } = await build(t, { probes: {} })
  t.ok(server.hasPlugin('@ratatosk/health'))
})

t.test('answers as in the golden file: live always, ready if every probe succeeds', async (t) => {
  interface Case {
    readonly request: string
    /** The probes, in the order in which they are given. */
    readonly probes: Readonly<Record<string, 'up' | 'down'>>
    readonly status: number
    readonly body: object
  }
  for (const { request, probes, status, body } of golden<Case[]>(import.meta.url, 'test/golden.json')) {
    const given = Object.entries(probes).map(([name, state]) => [name, state === 'up' ? up : down])
    const { server } = await build(t, { probes: Object.fromEntries(given) })
    const response = await server.inject(request.replace('GET ', ''))
    const name = `${request}: ${JSON.stringify(probes)}`
    t.equal(response.statusCode, status, name)
    t.equal(response.body, JSON.stringify(body), name)
    t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  }
})

t.test('names failing subsystems in the order of the probes, not of the failures', async (t) => {
  const [database, layer1] = [manualProbe(), manualProbe()]
  const { server } = await build(t, { probes: { database: database.probe, layer1: layer1.probe } })
  const response = server.inject('/health/ready')
  await settled()
  layer1.calls[0]!.reject(new Error('first'))
  await settled()
  database.calls[0]!.reject(new Error('second'))
  t.same((await response).json(), { status: 'not_ready', failing: ['database', 'layer1'] })
})

t.test('logs why a subsystem fails and does not tell the client', async (t) => {
  const { server, log } = await build(t, { probes: { database: down, queue: up } })
  const response = await server.inject('/health/ready')
  t.notMatch(response.body, /password/)
  t.equal(log().length, 1)
  t.match(log()[0], { subsystem: 'database', err: { message: /password authentication failed/ } })
})

t.test('shows and logs the reason of a subsystem that gives one, on one line', async (t) => {
  const full: Probe = async () => {
    throw new ReadinessError('no space left', { cause: new Error('/var/lib/private') })
  }
  const { server, log } = await build(t, { probes: { database: full, queue: down } })
  const { body } = await server.inject('/health/ready')
  t.equal(
    body,
    '{"status":"not_ready","failing":["database","queue"],"reasons":{"database":"no space left"}}',
  )
  t.match(log()[0], { subsystem: 'database', msg: 'Not ready: no space left' })
})

t.test('shows counters that are not 0, ready or not', async (t) => {
  const state = { failing: true, invalidBlocks: 0 }
  const { server } = await build(t, {
    probes: { blocks: async (signal) => (state.failing ? down(signal) : undefined) },
    counters: { invalidBlocks: () => state.invalidBlocks, other: () => 0 },
  })
  const body = async () => (await server.inject('/health/ready')).body
  t.equal(await body(), '{"status":"not_ready","failing":["blocks"]}')
  state.invalidBlocks = 2
  t.equal(await body(), '{"status":"not_ready","failing":["blocks"],"invalidBlocks":2}')
  state.failing = false
  t.equal(await body(), '{"status":"ready","invalidBlocks":2}')
  state.invalidBlocks = 0
  t.equal(await body(), '{"status":"ready"}')
})

t.test('is ready without a counter that cannot be read, which is logged once', async (t) => {
  let fault: unknown = new Error('no such counter')
  const { server, log } = await build(t, {
    probes: { up },
    counters: {
      lost: () => {
        if (fault !== undefined) throw fault
        return 3
      },
      late: (async () => 1) as never,
      found: () => 2,
    },
  })
  for (let n = 0; n < 2; n++) {
    const { statusCode, body } = await server.inject('/health/ready')
    t.same([statusCode, body], [200, '{"status":"ready","found":2}'])
  }
  const msg = 'The counter cannot be read: answers omit it'
  t.match(log(), [
    { level: 40, counter: 'lost', err: { message: 'no such counter' }, msg },
    { level: 40, counter: 'late', err: { message: 'counters.late must return a number' }, msg },
  ])
  fault = undefined
  t.equal((await server.inject('/health/ready')).body, '{"status":"ready","lost":3,"found":2}')
  fault = new Error('again')
  await server.inject('/health/ready')
  t.equal(log().length, 3)
})

t.test('a probe need not be asynchronous; one that returns false fails', async (t) => {
  let state: unknown
  const { server, log } = await build(t, { probes: { database: () => state as undefined } })
  t.equal((await server.inject('/health/ready')).statusCode, 200)
  for (const value of [false, Promise.resolve(false)]) {
    state = value
    t.equal((await server.inject('/health/ready')).statusCode, 503)
  }
  t.match(log()[0], { err: { message: 'The probe returned false: let it throw the reason' } })
})

t.test('a probe that throws synchronously does not affect the others', async (t) => {
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

t.test('runs probes concurrently', async (t) => {
  const [database, queue, layer1] = [manualProbe(), manualProbe(), manualProbe()]
  const { server } = await build(t, {
    probes: { database: database.probe, queue: queue.probe, layer1: layer1.probe },
  })
  const response = server.inject('/health/ready')
  await settled()
  for (const { calls } of [database, queue, layer1]) {
    t.equal(calls.length, 1, 'runs before any other has settled')
    calls[0]!.resolve()
  }
  t.equal((await response).statusCode, 200)
})

t.test('limits a probe to 3 s, or to what the option says', async (t) => {
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
    t.same((await late).json(), { status: 'not_ready', failing: ['database'] })
    t.ok(calls[1]!.signal.aborted, 'the signal of the probe aborts')
    t.match(log()[0], { subsystem: 'database', err: { code: 'HEALTH_PROBE_TIMEOUT' } })

    calls[1]!.reject(new Error('after the time limit'))
    const next = server.inject('/health/ready')
    await settled()
    calls[2]!.resolve()
    t.equal((await next).statusCode, 200, 'the next run starts again')
    mock.timers.reset()
  }
})

t.test('runs the probes once for a burst of requests', async (t) => {
  const { calls, probe } = manualProbe()
  const { server, log } = await build(t, { probes: { queue: probe } })
  const burst = Array.from({ length: 20 }, () => server.inject('/health/ready'))
  await settled()
  t.equal(calls.length, 1)
  calls[0]!.reject(new Error('unavailable'))
  for (const response of await Promise.all(burst)) {
    t.same(response.json(), { status: 'not_ready', failing: ['queue'] })
  }
  t.equal(log().length, 1, 'logged once')

  const after = server.inject('/health/ready')
  await settled()
  t.equal(calls.length, 2, 'a later request starts another run')
  calls[1]!.resolve()
  t.equal((await after).statusCode, 200)
})

t.test('serves HEAD like GET', async (t) => {
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

t.test('serves two instances in one server, each under its prefix', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(health, { prefix: '/a', probes: {} })
  await server.register(health, { prefix: '/b', probes: { queue: down } })
  t.equal((await server.inject('/a/health/ready')).statusCode, 200)
  t.equal((await server.inject('/b/health/ready')).statusCode, 503)
  t.equal((await server.inject('/health/ready')).statusCode, 404)
})

t.test('throws at startup for options that cannot work', async (t) => {
  const wrong: [unknown, string][] = [
    [{}, 'probes must be an object of functions'],
    [{ probes: { queue: true } }, 'probes must be an object of functions'],
    [
      { probes: {}, counters: { errors: 1 } },
      'counters must be an object of functions with other names than status, failing, reasons',
    ],
    [
      { probes: {}, counters: { status: () => 1 } },
      'counters must be an object of functions with other names than status, failing, reasons',
    ],
    [{ probes: {}, probeTimeoutMs: 0 }, 'probeTimeoutMs must be a whole number from 1'],
    [{ probes: {}, probeTimeoutMs: Number.NaN }, 'probeTimeoutMs must be a whole number from 1'],
  ]
  for (const [options, message] of wrong) {
    const server = fastify()
    await t.rejects(async () => server.register(health, options as HealthOptions), {
      message: `@ratatosk/health: ${message}`,
    })
    await server.close()
  }
})

t.test('documents every route and status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  await server.register(health, { probes: {} })
  await server.ready()
  const { paths } = server.swagger()
  t.same(Object.keys(paths ?? {}), ['/health/live', '/health/ready'])
  t.same(Object.keys(paths?.['/health/live']?.get?.responses ?? {}), ['200', '408', '431'])
  t.same(Object.keys(paths?.['/health/ready']?.get?.responses ?? {}), ['200', '408', '431', '503'])
  t.matchOnlyStrict(paths?.['/health/ready']?.get?.responses?.['503'], {
    description: 'One or more subsystems are not ready; or, with Retry-After, too many clients are connected',
    headers: { 'Retry-After': Object },
    content: { 'application/json': { schema: Object } },
  })
})
