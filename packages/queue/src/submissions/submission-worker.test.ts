import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubmissionQueue, createSubmissionWorker, type Delivery, type Disposition } from '../index.js'
import { openers } from '../test/backends.js'
import { HeldDeliveries } from './submission-worker.js'

const cbor = Buffer.from('84a0a0f5f6', 'hex')

describe.each(Object.entries(openers))('deliveries on %s', (_kind, open) => {
  test('a delivery that is done leaves nothing in the queue', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const deliveries: Delivery[] = []
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
    await expect.poll(() => submissions.find(id)).toMatchObject({ state: 'left' })
  })

  test('a delivery that ends in again is repeated after its delay as an attempt', async (context) => {
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
    await expect.poll(() => attempts).toEqual([1, 2, 3])
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(39)
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(79)
  })

  test('a released delivery goes to another worker and does not count as an attempt', async (context) => {
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

  test('a delivery whose handler rejects is repeated', async (context) => {
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
    await expect.poll(() => attempts).toEqual([1, 2])
  })

  test('deliveries of a worker that was cut off go to others, any number of times', async (context) => {
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
      await expect.poll(() => held).toBe(true)
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
    await expect.poll(() => attempts).toEqual([1])
    expect(await submissions.jobs.getFailedCount()).toBe(0)
  })
})

describe.each(Object.entries(openers))('a job of many transactions on %s', (_kind, open) => {
  /** Ten transactions that arrive together, and what a worker is given of them. */
  async function ten(context: Parameters<typeof open>[0]) {
    const { backend, again } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => submissions.add(Buffer.of(n))))
    expect(await submissions.jobs.getWaitingCount(), 'jobs').toBeLessThanOrEqual(2)
    const deliveries: [number, number][] = []
    const work = (
      on: typeof backend,
      dispose: (n: number, attempt: number) => Disposition,
      concurrency = 10,
    ) =>
      createSubmissionWorker(
        on,
        async ({ id, cbor: [n = -1], attempt }) => {
          expect(id).toBe(ids[n])
          deliveries.push([n, attempt])
          return dispose(n, attempt)
        },
        { concurrency, lockDurationMs: 400, stalledIntervalMs: 50 },
      )
    const emptied = () =>
      expect.poll(() => submissions.jobs.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0)
    return { backend, again, submissions, ids, deliveries, work, emptied }
  }

  test('only those that are postponed are delivered again, and are found meanwhile', async (context) => {
    const { backend, submissions, ids, deliveries, work, emptied } = await ten(context)
    work(backend, (n, attempt) =>
      n % 4 === 1 && attempt < 3 ? { kind: 'again', afterMs: 1_500 } : { kind: 'done' },
    )
    await expect
      .poll(() => submissions.find(ids[5]!), { interval: 10 })
      .toMatchObject({ state: 'validating', cbor: Uint8Array.of(5) })
    await emptied()
    for (let n = 0; n < 10; n++) {
      const attempts = deliveries.filter(([each]) => each === n).map(([, attempt]) => attempt)
      expect(attempts).toEqual(n % 4 === 1 ? [1, 2, 3] : [1])
    }
    expect(await submissions.find(ids[5]!)).toMatchObject({ state: 'left' })
  })

  test('a postponed one does not wait for those that take long', async (context) => {
    const { backend, ids, submissions } = await ten(context)
    const done: number[] = []
    let finish: () => void = () => undefined
    const slow = new Promise<void>((resolve) => {
      finish = resolve
    })
    createSubmissionWorker(
      backend,
      async ({ cbor: [n = -1], attempt }, slot) => {
        if (n === 3) {
          slot.vacate()
          await slow
        } else if (attempt === 1) return { kind: 'again', afterMs: 10 }
        done.push(n)
        return { kind: 'done' }
      },
      { concurrency: 2 },
    )
    await expect.poll(() => done.length).toBe(9)
    expect(done).not.toContain(3)
    finish()
    await expect.poll(() => submissions.find(ids[3]!)).toMatchObject({ state: 'left' })
  })

  test('jobs are started before many are taken: nothing renews their locks before', async (context) => {
    const { backend } = await open(context)
    const { jobs, add } = createSubmissionQueue(backend)
    for (let n = 0; n < 100; n++) await add(Buffer.of(n))
    expect(await jobs.getWaitingCount(), 'jobs').toBe(100)
    let taken: Promise<number> | undefined
    createSubmissionWorker(
      backend,
      async () => {
        taken ??= jobs.getActiveCount()
        await taken
        return { kind: 'done' }
      },
      { concurrency: 10_000 },
    )
    await expect.poll(() => taken).toBeDefined()
    expect(await taken).toBeLessThan(40)
  })

  test('those that a closing worker has not begun go to the next, with their attempts', async (context) => {
    const { backend, again, deliveries, work, emptied } = await ten(context)
    const first = await again()
    let began: () => void = () => undefined
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    let finish: (disposition: Disposition) => void = () => undefined
    const held = new Promise<Disposition>((resolve) => {
      finish = resolve
    })
    const handled: number[] = []
    const closing = createSubmissionWorker(
      first,
      async ({ cbor: [n = -1] }) => {
        handled.push(n)
        if (handled.length === 4) {
          began()
          return held
        }
        return { kind: 'done' }
      },
      { concurrency: 1 },
    )
    await begun
    const closed = closing.close()
    finish({ kind: 'done' })
    await closed
    expect(handled).toEqual([0, 1, 2, 3])
    work(backend, () => ({ kind: 'done' }))
    await emptied()
    expect(deliveries.map(([n]) => n).sort()).toEqual([4, 5, 6, 7, 8, 9])
    await first.close()
  })

  test('a worker that is cut off loses none, and none is in two jobs', async (context) => {
    const { backend, again, deliveries, work, emptied } = await ten(context)
    const cutOff = await again()
    const seen = new Set<number>()
    createSubmissionWorker(
      cutOff,
      ({ cbor: [n = -1] }) => {
        seen.add(n)
        if (n < 3) return Promise.resolve({ kind: 'again', afterMs: 60_000 })
        return n === 3 ? new Promise(() => undefined) : Promise.resolve({ kind: 'done' })
      },
      { concurrency: 10, lockDurationMs: 400, stalledIntervalMs: 50 },
    )
    await expect.poll(() => seen.size).toBe(10)
    await cutOff.close(1)
    work(backend, (n, attempt) =>
      n < 3 && attempt === 1 ? { kind: 'again', afterMs: 20 } : { kind: 'done' },
    )
    await expect.poll(() => new Set(deliveries.map(([n]) => n)).size).toBe(10)
    const queue = createSubmissionQueue(backend)
    for (const job of await queue.jobs.getDelayed()) await job.promote()
    await emptied()
    for (const n of [0, 1, 2]) expect(deliveries).toContainEqual([n, 2])
  })
})

describe('held deliveries', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  function hold(waiting = async () => 0) {
    const held = new HeldDeliveries(2, waiting)
    const elapsed = vi.fn()
    const wait = () => void held.elapsed(300).then(elapsed)
    return { held, elapsed, wait }
  }

  test('holds deliveries up to its capacity', () => {
    const { held } = hold()
    expect([held.take(), held.take(), held.take()]).toEqual([true, true, false])
    held.leave()
    expect(held.take()).toBe(true)
  })

  test('a delivery is repeated after its delay', async () => {
    // Other files of the worker may have timers too.
    const [set, clear] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')]
    const { elapsed, wait } = hold()
    wait()
    await vi.advanceTimersByTimeAsync(299)
    expect(elapsed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(51)
    expect(elapsed).toHaveBeenCalledExactlyOnceWith(true)
    expect(clear).toHaveBeenCalledWith(set.mock.results[0]?.value)
  })

  test('a delivery waits while others arrive, for at most five seconds', async () => {
    const { held, elapsed, wait } = hold()
    wait()
    for (let time = 0; time < 5_200; time += 100) {
      held.delivered()
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(elapsed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(150)
    expect(elapsed).toHaveBeenCalledExactlyOnceWith(true)
  })

  test('a delivery waits until the queue is empty', async () => {
    let waiting = 1
    const { elapsed, wait } = hold(async () => waiting)
    wait()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(elapsed).not.toHaveBeenCalled()
    waiting = 0
    await vi.advanceTimersByTimeAsync(50)
    expect(elapsed).toHaveBeenCalledExactlyOnceWith(true)
  })

  test('closing gives up every held delivery and accepts no more', async () => {
    const { held, elapsed, wait } = hold()
    wait()
    held.close()
    await vi.advanceTimersByTimeAsync(0)
    expect(elapsed).toHaveBeenCalledExactlyOnceWith(false)
    expect(held.take()).toBe(false)
    expect(await held.elapsed(300)).toBe(false)
  })
})
