import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createSubmissionQueue, type QueueBackend, queuedCbor, submissionQueueName } from '../index.js'
import { openers, waiting } from '../test/backends.js'

/** Resolves with the data of the first `count` jobs that a worker receives. */
function received<Data>(backend: QueueBackend, name: string, count: number): Promise<Data[]> {
  return new Promise((resolve) => {
    const jobs: Data[] = []
    backend.worker<Data>(name, async (job) => {
      jobs.push(job.data)
      if (jobs.length === count) resolve(jobs)
    })
  })
}

describe.each(Object.entries(openers))('a queue on %s', (_kind, open) => {
  test('delivers jobs in the order in which they were added', async (context) => {
    const { backend } = await open(context)
    const queue = backend.queue<number>('numbers')
    for (const number of [1, 2, 3, 4]) await queue.add('number', number)
    expect(await received<number>(backend, 'numbers', 4)).toEqual([1, 2, 3, 4])
  })

  test('wakes an idle worker from another connection', async (context) => {
    const { backend, again } = await open(context)
    const worker = backend.worker<string>('greetings', async (job) => job.updateProgress(1))
    await new Promise<void>((resolve) => worker.once('drained', resolve))
    const completed = new Promise<string>((resolve) => worker.once('completed', (job) => resolve(job.data)))
    const producer = await again()
    await producer.queue<string>('greetings').add('greet', 'hello')
    expect(await completed).toBe('hello')
    await producer.close()
  })

  test('emits the events of a job', async (context) => {
    const { backend } = await open(context)
    const events = backend.events('sums')
    await events.waitUntilReady()
    backend.worker<number[], number>('sums', async (job) => job.data.reduce((a, b) => a + b))
    const job = await backend.queue<number[], number>('sums').add('sum', [1, 2, 3])
    expect(await job.waitUntilFinished(events)).toBe(6)
  })

  test('redelivers a failed job after the delay that its worker chooses', async (context) => {
    const { backend } = await open(context)
    const delays: number[] = []
    let failedAt = 0
    const succeededAt = new Promise<number>((resolve) => {
      backend.worker(
        'flaky',
        async (job) => {
          if (job.attemptsMade === 1) return resolve(Date.now())
          failedAt = Date.now()
          throw new Error('not yet')
        },
        {
          settings: {
            backoffStrategy: (attempts) => {
              delays.push(attempts)
              return 60
            },
          },
        },
      )
    })
    await backend.queue('flaky').add('job', undefined, { attempts: 3, backoff: { type: 'custom' } })
    expect((await succeededAt) - failedAt).toBeGreaterThanOrEqual(59)
    expect(delays).toEqual([1])
  })

  test('finishes started jobs before it closes', async (context) => {
    const { backend } = await open(context)
    let finished = false
    const begun = new Promise<void>((resolve) => {
      backend.worker('slow', async () => {
        resolve()
        await new Promise((wake) => setTimeout(wake, 100))
        finished = true
      })
    })
    await backend.queue('slow').add('job', undefined)
    await begun
    await backend.close()
    expect(finished).toBe(true)
  })

  test('answers a ping and honours its signal', async (context) => {
    const { backend } = await open(context)
    await backend.ping()
    await backend.ping(AbortSignal.timeout(5000))
    const reason = new Error('too late')
    await expect(backend.ping(AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  test('refuses work once closed, and can be closed twice', async (context) => {
    const { backend } = await open(context)
    await backend.close()
    await backend.close()
    expect(() => backend.queue('late')).toThrow(expect.objectContaining({ code: 'QUEUE_CLOSED' }))
    await expect(backend.ping()).rejects.toMatchObject({ code: 'QUEUE_CLOSED' })
  })

  test('queues transactions byte for byte, each with a unique id', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const cbor = Array.from({ length: 300 }, (_, index) => randomBytes(1 + index))
    cbor.push(randomBytes(16_384))
    const ids = await Promise.all(cbor.map((bytes) => submissions.add(bytes)))
    expect(new Set(ids).size).toBe(cbor.length)
    const queued = await waiting(submissions)
    expect(queued.map((each) => Buffer.from(queuedCbor(each)).toString('hex'))).toEqual(
      cbor.map((bytes) => bytes.toString('hex')),
    )
    expect(await submissions.jobs.getWaitingCount(), 'jobs').toBeLessThan(cbor.length / 10)
    for (const n of [0, 63, 64, 300]) {
      expect(await submissions.find(ids[n]!)).toMatchObject({
        state: 'queued',
        attempts: 0,
        cbor: new Uint8Array(cbor[n]!),
      })
    }
    const [process] = ids[0]!.split('.')
    expect(await submissions.find(`${process}.0.1s.1.1s`)).toMatchObject({ state: 'left' })
    expect(await submissions.find('42')).toBeUndefined()
  })

  test('refuses a transaction when the maximum is waiting, until some are taken', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend, { maxWaiting: 3 })
    const settled = await Promise.allSettled(
      Array.from({ length: 5 }, () => submissions.add(randomBytes(10))),
    )
    expect(settled.map(({ status }) => status).sort()).toEqual([
      ...Array(3).fill('fulfilled'),
      ...Array(2).fill('rejected'),
    ])
    await expect(submissions.add(randomBytes(10))).rejects.toMatchObject({
      code: 'QUEUE_FULL',
      retryAfterMs: 1000,
    })
    expect(await waiting(submissions)).toHaveLength(3)
    backend.worker(submissionQueueName, async () => undefined)
    await expect
      .poll(() => submissions.add(randomBytes(10)).catch(() => undefined), { interval: 100 })
      .toBeDefined()
  })

  test('refuses a transaction once closed', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend)
    await submissions.add(randomBytes(10))
    await backend.close()
    await expect(submissions.add(randomBytes(10))).rejects.toMatchObject({ code: 'QUEUE_CLOSED' })
  })
})

describe.each(['postgres', 'redis'] as const)('a channel on %s', (kind) => {
  test('delivers messages to every other member of the channel only', async (context) => {
    const { backend, again } = await openers[kind](context)
    const second = await again()
    const heard: string[] = []
    const first = await backend.broadcast('news', (message) => heard.push(`first ${message}`))
    const other = await second.broadcast('news', (message) => heard.push(`other ${message}`))
    await second.broadcast('gossip', (message) => heard.push(`gossip ${message}`))
    first.send('ü')
    await expect.poll(() => heard).toEqual(['other ü'])
    other.send('2')
    await expect.poll(() => heard).toEqual(['other ü', 'first 2'])
    await second.close()
    first.send('no one hears it')
    await backend.ping()
  })

  test('drops a message that is too long and delivers the next', async (context) => {
    const { backend, again } = await openers[kind](context)
    const second = await again()
    const heard: number[] = []
    const sender = await backend.broadcast('news', () => undefined)
    await second.broadcast('news', (message) => heard.push(message.length))
    sender.send('x'.repeat(100_000))
    sender.send('x')
    await expect.poll(() => heard.at(-1)).toBe(1)
    await second.close()
  })
})
