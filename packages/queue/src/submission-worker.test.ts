import { describe, expect, test } from 'vitest'
import {
  createSubmissionQueue,
  createSubmissionWorker,
  type Disposition,
  type SubmissionDelivery,
} from './index.js'
import { openers } from './test/services.js'

const cbor = Buffer.from('84a0a0f5f6', 'hex')

describe.each(Object.entries(openers))('deliveries on %s', (_kind, open) => {
  test('a delivery that is done is over, and leaves nothing in the queue', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const deliveries: SubmissionDelivery[] = []
    const worker = createSubmissionWorker(
      backend,
      async (delivery) => {
        deliveries.push(delivery)
        return { kind: 'done' }
      },
      { concurrency: 10 },
    )
    await worker.ready()
    const before = Date.now()
    const id = await submissions.add(cbor)
    await expect.poll(() => deliveries.length).toBe(1)
    expect(deliveries).toMatchObject([{ id, attempt: 1 }])
    expect(Buffer.from(deliveries[0]!.cbor)).toEqual(cbor)
    expect(deliveries[0]!.submittedAt.getTime()).toBeGreaterThanOrEqual(before)
    await expect.poll(() => submissions.jobs.getJob(id)).toBeUndefined()
  })

  test('one that is to come again comes after its time, and counts as an attempt', async (context) => {
    const { backend } = await open(context)
    const times: number[] = []
    const attempts: number[] = []
    createSubmissionWorker(
      backend,
      async ({ attempt }) => {
        times.push(Date.now())
        attempts.push(attempt)
        return attempt === 3 ? { kind: 'done' } : { kind: 'again', afterMs: 40 * attempt }
      },
      { concurrency: 10 },
    )
    await createSubmissionQueue(backend).add(cbor)
    await expect.poll(() => attempts, { timeout: 10_000 }).toEqual([1, 2, 3])
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(39)
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(79)
  })

  test('one that is released goes to another worker, without an attempt', async (context) => {
    const { backend, again } = await open(context)
    const submissions = createSubmissionQueue(backend)
    let release: (disposition: Disposition) => void = () => undefined
    let held = false
    const first = createSubmissionWorker(
      backend,
      () => {
        held = true
        return new Promise((resolve) => {
          release = resolve
        })
      },
      { concurrency: 1 },
    )
    await submissions.add(cbor)
    await expect.poll(() => held).toBe(true)
    const closed = first.close()
    release({ kind: 'release' })
    await closed
    expect(await submissions.jobs.getJobCounts('active', 'waiting', 'delayed')).toMatchObject({
      active: 0,
      waiting: 1,
      delayed: 0,
    })
    const second = await again()
    const attempts: number[] = []
    createSubmissionWorker(
      second,
      async ({ attempt }) => {
        attempts.push(attempt)
        return { kind: 'done' }
      },
      { concurrency: 1 },
    )
    await expect.poll(() => attempts).toEqual([1])
    await second.close()
  })

  test('one whose handling fails comes again', async (context) => {
    const { backend } = await open(context)
    const attempts: number[] = []
    createSubmissionWorker(
      backend,
      async ({ attempt }) => {
        attempts.push(attempt)
        if (attempt === 1) throw new Error('a defect')
        return { kind: 'done' }
      },
      { concurrency: 1 },
    )
    await createSubmissionQueue(backend).add(cbor)
    await expect.poll(() => attempts, { timeout: 10_000 }).toEqual([1, 2])
  })

  test('what a worker held when it was cut off goes to others, any number of times', async (context) => {
    const { backend, again } = await open(context)
    const submissions = createSubmissionQueue(backend)
    await submissions.add(cbor)
    const options = { concurrency: 1, lockDurationMs: 200, stalledIntervalMs: 50 }
    for (let round = 0; round < 3; round++) {
      const cutOff = await again()
      let held = false
      createSubmissionWorker(
        cutOff,
        () => {
          held = true
          return new Promise(() => undefined)
        },
        options,
      )
      await expect.poll(() => held, { timeout: 10_000 }).toBe(true)
      await cutOff.close(1)
    }
    const attempts: number[] = []
    createSubmissionWorker(
      backend,
      async ({ attempt }) => {
        attempts.push(attempt)
        return { kind: 'done' }
      },
      options,
    )
    await expect.poll(() => attempts, { timeout: 10_000 }).toEqual([1])
    expect(await submissions.jobs.getFailedCount()).toBe(0)
  })
})
