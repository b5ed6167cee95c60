import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import {
  type BreakableProxy,
  breakableProxy,
  randomName,
  redisUrl,
  removeKeys,
  withRedis,
} from '@ratatosk/test-services'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import {
  createSubmissionQueue,
  openQueueBackend,
  type QueueBackend,
  SUBMISSIONS,
  type Submission,
} from '../index.js'
import { reachable } from '../test/services.js'
import { durabilityWarnings } from './durability.js'

async function behindProxy(
  context: TestContext,
): Promise<{ proxy: BreakableProxy; backend: QueueBackend; errors: Error[] }> {
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
  return { proxy, backend, errors }
}

for (const [how, takeAway] of [
  ['refuses connections', (proxy: BreakableProxy) => proxy.break()],
  ['does not answer', async (proxy: BreakableProxy) => proxy.freeze()],
] as const) {
  test(`a submission fails soon when Redis ${how}, and succeeds when it is back`, async (context) => {
    const { proxy, backend } = await behindProxy(context)
    const submissions = createSubmissionQueue(backend)
    await submissions.add(randomBytes(10))
    await takeAway(proxy)
    await expect(submissions.add(randomBytes(10))).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    await expect(backend.ping()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
    // Connections that were frozen never come back: a server that vanished without a word.
    await proxy.break()
    await proxy.mend()
    await expect
      .poll(() => submissions.add(randomBytes(10)).catch(() => undefined), { timeout: 10_000 })
      .toBeDefined()
  })
}

test('a worker goes on by itself when Redis is back', async (context) => {
  const { proxy, backend, errors } = await behindProxy(context)
  const submissions = createSubmissionQueue(backend)
  const seen: string[] = []
  const worker = backend.worker<Submission>(SUBMISSIONS, async (job) => {
    seen.push(job.id ?? '')
  })
  const first = await submissions.add(randomBytes(10))
  await expect.poll(() => seen).toEqual([first])
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
  expect(worker.isRunning()).toBe(true)
})

test('closing ends in bounded time while Redis is away', async (context) => {
  const { proxy, backend } = await behindProxy(context)
  backend.worker(SUBMISSIONS, async () => undefined)
  createSubmissionQueue(backend)
  await proxy.break()
  await backend.close(300)
})

test('an unreachable Redis is told without its address', async () => {
  const url = 'redis://somebody:opensesame@127.0.0.1:1'
  const error = await openQueueBackend({ kind: 'redis', url, requestTimeoutMs: 300 }).catch((e: unknown) => e)
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
})

test('a refused password is not shown', async (context) => {
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

test.each(['', 'localhost', 'http://:opensesame@localhost', '//:opensesame@localhost'])(
  'the address %j is refused',
  async (url) => {
    const error = await openQueueBackend({ kind: 'redis', url }).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'QUEUE_CONFIGURATION' })
    expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
  },
)

test('settings under which accepted jobs could be lost are warned of', () => {
  const warned = (info: string) => durabilityWarnings(info).map(({ code }) => code)
  expect(warned('aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n')).toEqual([])
  expect(warned('aof_enabled:0\r\nmaxmemory_policy:allkeys-lru\r\n')).toEqual([
    'REDIS_NOT_PERSISTENT',
    'REDIS_MAY_EVICT',
  ])
  expect(warned('')).toEqual([])
})

test('the warnings say what this server is set to', async (context) => {
  const { backend } = await behindProxy(context)
  const [, appendonly] = await withRedis(
    async (redis) => redis.config('GET', 'appendonly') as Promise<string[]>,
  )
  expect(backend.warnings().some(({ code }) => code === 'REDIS_NOT_PERSISTENT')).toBe(appendonly === 'no')
})
