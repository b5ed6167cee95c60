import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import {
  type BreakableProxy,
  breakableProxy,
  ownRedis,
  randomName,
  redisUrl,
  removeKeys,
  withRedis,
} from '@ratatosk/test-kit'
import { Redis } from 'ioredis'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import {
  createSubmissionQueue,
  createSubmissionWorker,
  openQueueBackend,
  type QueueBackend,
  type QueueBackendOptions,
  submissionQueueName,
} from '../index.js'
import { reachable } from '../test/backends.js'
import { durabilityWarnings } from './redis.js'

async function behindProxy(
  context: TestContext,
): Promise<{ proxy: BreakableProxy; prefix: string; backend: QueueBackend; errors: Error[] }> {
  await reachable(context, 'Redis')
  const proxy = await breakableProxy(redisUrl)
  const prefix = randomName()
  const errors: Error[] = []
  const backend = await openQueueBackend({
    kind: 'redis',
    url: proxy.url,
    prefix,
    requestTimeoutMs: 500,
    onError: (error) => errors.push(error),
  })
  onTestFinished(async () => {
    await backend.close(500)
    await proxy.close()
    await removeKeys(prefix)
  })
  return { proxy, prefix, backend, errors }
}

const outages = [
  ['refuses connections', (proxy: BreakableProxy) => proxy.break()],
  ['does not respond', async (proxy: BreakableProxy) => proxy.freeze()],
] as const

for (const [how, takeAway] of outages) {
  test(`adding a transaction fails fast when Redis ${how}, and succeeds afterwards`, async (context) => {
    const { proxy, backend } = await behindProxy(context)
    const submissions = createSubmissionQueue(backend)
    await submissions.add(randomBytes(10))
    await takeAway(proxy)
    const away = await submissions.add(randomBytes(10)).catch((error: unknown) => error)
    expect(away).toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    expect(inspect(away)).not.toContain('maxRetriesPerRequest')
    await expect(backend.ping()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    // Frozen connections never recover: this is a server that vanished without closing them.
    await proxy.break()
    await proxy.mend()
    await expect.poll(() => submissions.add(randomBytes(10)).catch(() => undefined)).toBeDefined()
  })
}

test('a worker closes while its connections wait to connect again', async (context) => {
  const { proxy, backend } = await behindProxy(context)
  const worker = backend.worker(submissionQueueName, async () => undefined)
  await worker.waitUntilReady()
  // The worker is in its blocking wait.
  await sleep(100)
  await proxy.break()
  // The attempts are further and further apart, up to a second.
  await sleep(2_000)
  await proxy.mend()
  await worker.close()
})

for (const [how, takeAway] of outages) {
  test(`joining a channel fails when Redis ${how}, and hears nothing later`, async (context) => {
    const { proxy, prefix, backend } = await behindProxy(context)
    const heard: string[] = []
    await takeAway(proxy)
    const error = await backend.broadcast('news', (message) => heard.push(message)).catch((e: unknown) => e)
    expect(error).toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      message: 'The queue backend did not confirm the channel "news"',
    })
    await proxy.break()
    await proxy.mend()
    const other = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix })
    onTestFinished(() => other.close())
    const sender = await other.broadcast('news', () => undefined)
    const second: string[] = []
    await expect
      .poll(() => backend.broadcast('news', (message) => second.push(message)).catch(() => undefined), {
        timeout: 10_000,
      })
      .toBeDefined()
    sender.send('now')
    await expect.poll(() => second).toEqual(['now'])
    expect(heard).toEqual([])
  })
}

for (const moment of ['as it connects', 'later'] as const) {
  test(`a worker that loses Redis ${moment} resumes when Redis is back`, async (context) => {
    const { proxy, backend, errors } = await behindProxy(context)
    const submissions = createSubmissionQueue(backend)
    const seen: string[] = []
    const worker = createSubmissionWorker(
      backend,
      async ({ id }) => {
        seen.push(id)
        return { kind: 'done' }
      },
      { concurrency: 1 },
    )
    if (moment === 'later') {
      const first = await submissions.add(randomBytes(10))
      await expect.poll(() => seen).toEqual([first])
    }
    await proxy.break()
    await expect.poll(() => errors.length).toBeGreaterThan(0)
    await proxy.mend()
    let second: string | undefined
    await expect
      .poll(async () => (second = await submissions.add(randomBytes(10)).catch(() => undefined)), {
        timeout: 10_000,
      })
      .toBeDefined()
    await expect.poll(() => seen, { timeout: 10_000 }).toContain(second)
    await worker.close()
  })
}

for (const [how, takeAway] of outages) {
  test(`closing takes no longer than its time limit when Redis ${how}`, async (context) => {
    const { proxy, backend } = await behindProxy(context)
    backend.worker(submissionQueueName, async () => undefined)
    createSubmissionQueue(backend)
    await takeAway(proxy)
    const started = performance.now()
    await backend.close(300)
    expect(performance.now() - started, 'milliseconds').toBeLessThan(3_000)
  })
}

test('a policy that changes is warned of once, at the next ping', async (context) => {
  const server = await ownRedis('noeviction')
  if (server === undefined) return context.skip()
  onTestFinished(server.close)
  const told: string[] = []
  const backend = await openQueueBackend({
    kind: 'redis',
    url: server.url,
    onWarning: ({ message }) => told.push(message),
  })
  onTestFinished(() => backend.close())
  const redis = new Redis(server.url)
  onTestFinished(() => redis.disconnect())
  const pinged = async (policy: string) => {
    await redis.config('SET', 'maxmemory-policy', policy)
    await backend.ping()
    await backend.ping()
    return told.splice(0).map((message) => /\((.*)\)/.exec(message)?.[1])
  }
  expect(await pinged('noeviction')).toEqual([])
  expect(await pinged('allkeys-lru')).toEqual(['allkeys-lru'])
  expect(backend.warnings().map(({ code }) => code)).toContain('QUEUE_REDIS_MAY_EVICT')
  expect(await pinged('volatile-ttl')).toEqual(['volatile-ttl'])
  expect(await pinged('noeviction')).toEqual([])
  expect(await pinged('volatile-ttl')).toEqual(['volatile-ttl'])
})

test('the error about an unreachable Redis does not contain its address', async () => {
  const url = 'redis://somebody:opensesame@127.0.0.1:1'
  const error = await openQueueBackend({ kind: 'redis', url, requestTimeoutMs: 300 }).catch((e: unknown) => e)
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
})

test('the error about a wrong password does not contain it', async (context) => {
  await reachable(context, 'Redis')
  const url = new URL(redisUrl)
  url.username = 'nobody'
  url.password = 'opensesame'
  const error = await openQueueBackend({ kind: 'redis', url: url.href, requestTimeoutMs: 500 }).catch(
    (e: unknown) => e,
  )
  expect(error).toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    cause: { message: expect.stringContaining('WRONGPASS') },
  })
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('opensesame')
})

test.each([
  [{ kind: 'postgresql' }, 'kind must be redis, postgres, pglite, not postgresql'],
  [{ kind: 'redis', prefx: 'mine' }, 'there is no option prefx'],
  [{ kind: 'redis', poolSize: 4 }, 'there is no option poolSize'],
  [{ kind: 'redis', requestTimeoutMs: '5' }, 'requestTimeoutMs must be a whole number from 1 to 2147483647'],
  [
    { kind: 'redis', requestTimeoutMs: 2 ** 31 },
    'requestTimeoutMs must be a whole number from 1 to 2147483647',
  ],
])('refuses the options %j', async (options, message) => {
  const all = { url: 'redis://127.0.0.1', ...options } as unknown as QueueBackendOptions
  const error = await openQueueBackend(all).catch((e: unknown) => e)
  expect(error).toMatchObject({ code: 'QUEUE_CONFIGURATION', message: expect.stringContaining(message) })
})

test('refuses an embedded database that is missing', async () => {
  const none = { kind: 'pglite' } as unknown as QueueBackendOptions
  await expect(openQueueBackend(none)).rejects.toThrow('pglite must be an instance of PGlite')
})

test.each(['', 'localhost', 'http://:opensesame@localhost', '//:opensesame@localhost'])(
  'refuses the address %j',
  async (url) => {
    const error = await openQueueBackend({ kind: 'redis', url }).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'QUEUE_CONFIGURATION' })
    expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
  },
)

test.each(['/seven', '/7/', '/-1', '/7x', '?db=seven', '?db='])(
  'refuses an address that ends with %j, which names no database',
  async (end) => {
    const url = `redis://:opensesame@localhost${end}`
    const error = await openQueueBackend({ kind: 'redis', url }).catch((e: unknown) => e)
    expect(error).toMatchObject({
      code: 'QUEUE_CONFIGURATION',
      message: expect.stringMatching(/is a number/),
    })
    expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
  },
)

test('refuses a database that Redis does not have, and uses one that it has', async (context) => {
  const server = await ownRedis('noeviction')
  if (server === undefined) return context.skip()
  onTestFinished(server.close)
  for (const end of ['/99', '?db=99']) {
    const opening = openQueueBackend({ kind: 'redis', url: server.url + end })
    await expect(opening, end).rejects.toMatchObject({
      code: 'QUEUE_CONFIGURATION',
      message: 'Redis refuses database 99 (ERR DB index is out of range)',
    })
  }
  const backend = await openQueueBackend({ kind: 'redis', url: `${server.url}/7` })
  onTestFinished(() => backend.close())
  await createSubmissionQueue(backend).add(randomBytes(10))
  const redis = new Redis(server.url)
  onTestFinished(() => redis.disconnect())
  expect(await redis.info('keyspace')).toMatch(/^db7:/m)
  expect(await redis.dbsize()).toBe(0)
})

test('does nothing in another database when a Redis comes back with fewer', async (context) => {
  let server = await ownRedis('noeviction')
  if (server === undefined) return context.skip()
  onTestFinished(async () => server?.close())
  const { url } = server
  async function restart(databases: number): Promise<void> {
    await server?.close()
    server = await ownRedis('noeviction', { port: new URL(url).port, databases })
  }
  const options = { url: `${url}/5`, requestTimeoutMs: 500, onError: () => undefined }
  const backend = await openQueueBackend({ kind: 'redis', ...options })
  onTestFinished(() => backend.close(500))
  const queue = createSubmissionQueue(backend)
  await queue.add(randomBytes(10))
  await backend.bind('ledger')

  await restart(2)
  const redis = new Redis(url)
  onTestFinished(() => redis.disconnect())
  for (let n = 0; n < 3; n++) {
    await expect(queue.add(randomBytes(10))).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    await expect(backend.ping()).rejects.toThrow()
  }
  expect(await redis.dbsize()).toBe(0)

  await restart(16)
  await expect.poll(() => backend.ping().then(() => 'answers', String), { timeout: 60_000 }).toBe('answers')
  await queue.add(randomBytes(10))
  expect(await redis.dbsize()).toBe(0)
})

test('binds its queues to the first ledger', async (context) => {
  const server = await ownRedis('noeviction')
  if (server === undefined) return context.skip()
  onTestFinished(server.close)
  const open = async (prefix: string) => {
    const backend = await openQueueBackend({ kind: 'redis', url: server.url, prefix })
    onTestFinished(() => backend.close())
    return backend
  }
  const [one, two, apart] = [await open('mine'), await open('mine'), await open('other')]
  expect(await one.boundLedger()).toBeUndefined()
  const bindings = await Promise.allSettled([one.bind('a'), two.bind('b')])
  const [first, refused] = bindings[0].status === 'fulfilled' ? [one, two] : [two, one]
  const ledger = first === one ? 'a' : 'b'
  expect(bindings.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: {
      code: 'QUEUE_LEDGER_CONFLICT',
      message: 'Another ledger has the queue: see the key mine:ledger',
    },
  })
  expect(await refused.boundLedger()).toBe(ledger)
  await refused.bind(ledger)
  await apart.bind('c')

  const redis = new Redis(server.url)
  onTestFinished(() => redis.disconnect())
  await redis.flushall()
  await first.ping()
  expect(await redis.get('mine:ledger')).toBe(ledger)
  await redis.set('mine:ledger', 'c')
  await expect(first.ping()).rejects.toMatchObject({ code: 'QUEUE_LEDGER_CONFLICT' })
  // A Redis that is full takes no writes.
  await redis.config('SET', 'maxmemory', '1')
  await first.bind('c')
})

test('warns about settings under which accepted jobs can be lost', () => {
  const warned = (info: string) => durabilityWarnings(info).map(({ code }) => code)
  expect(warned('aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n')).toEqual([])
  expect(warned('aof_enabled:0\r\nmaxmemory_policy:allkeys-lru\r\n')).toEqual([
    'QUEUE_REDIS_NOT_PERSISTENT',
    'QUEUE_REDIS_MAY_EVICT',
  ])
  expect(warned('')).toEqual([])
})

test('the warnings reflect the settings of the server', async (context) => {
  const { backend } = await behindProxy(context)
  const [, appendonly] = await withRedis(
    async (redis) => redis.config('GET', 'appendonly') as Promise<string[]>,
  )
  expect(backend.warnings().some(({ code }) => code === 'QUEUE_REDIS_NOT_PERSISTENT')).toBe(
    appendonly === 'no',
  )
})
