import { blake2b256 } from '@ratatosk/ledger'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSubmissionQueue, createSubmissionWorker, type Disposition } from '../index.js'
import { openers } from '../test/backends.js'
import { type JobNames, jobPacker, nameOfJob, SubmissionFinder } from './job.js'
import { addsInBulk, WaitingLimit } from './submission-queue.js'

const cbor = Buffer.from('84a0a0f5f6', 'hex')
const transactionId = blake2b256(Buffer.from('a0', 'hex'))

describe.each(Object.entries(openers))('submissions on %s', (_kind, open) => {
  test('are queued, then validating until their verdict, then have left', async (context) => {
    const { backend, again } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const id = await submissions.add(cbor)
    const waiting = {
      state: 'queued',
      cbor: new Uint8Array(cbor),
      submittedAt: expect.any(Date),
      attempts: 0,
    }
    expect(await submissions.find(id)).toEqual({ ...waiting, transactionId })
    expect(await submissions.findTransaction(transactionId)).toEqual({ ...waiting, transactionId })
    expect(await submissions.find(id)).toMatchObject({ submittedAt: await submissions.oldestAt() })

    let decide: (disposition: Disposition) => void = () => undefined
    let deliveries = 0
    createSubmissionWorker(
      backend,
      () => {
        deliveries++
        return new Promise((resolve) => {
          decide = resolve
        })
      },
      { concurrency: 1 },
    )
    await expect.poll(() => deliveries).toBe(1)
    const elsewhere = createSubmissionQueue(await again())
    expect(await elsewhere.find(id)).toMatchObject({ state: 'validating', attempts: 0 })
    expect(await elsewhere.findTransaction(transactionId)).toMatchObject({ state: 'validating' })
    for (const kind of ['later', 'again'] as const) {
      const before = deliveries
      decide({ kind, afterMs: 300 })
      await expect
        .poll(
          async () => {
            expect(await elsewhere.find(id), kind).toMatchObject({ state: 'validating' })
            expect(await elsewhere.findTransaction(transactionId), kind).toMatchObject({
              state: 'validating',
            })
            return deliveries
          },
          { timeout: 10_000 },
        )
        .toBe(before + 1)
    }
    decide({ kind: 'done' })
    await expect.poll(() => elsewhere.find(id)).toEqual({ state: 'left', transactionId })
    expect(await elsewhere.findTransaction(transactionId)).toBeUndefined()
    expect(await elsewhere.oldestAt()).toBeUndefined()
  })

  test('are found by their transactions, of which the furthest counts', async (context) => {
    const { backend } = await open(context)
    const submissions = createSubmissionQueue(backend)
    const numbered = (n: number) => Buffer.from(`84a10019${n.toString(16).padStart(4, '0')}a0f5f6`, 'hex')
    const idOf = (n: number) => blake2b256(numbered(n).subarray(1, 6))
    // Several jobs, with what is no transaction in between, and one transaction three times.
    const many = Array.from({ length: 600 }, (_, n) => (n % 7 === 3 ? Buffer.from('00', 'hex') : numbered(n)))
    await Promise.all([...many, numbered(1), numbered(1)].map((each) => submissions.add(each)))
    for (const n of [0, 1, 64, 254, 256, 300, 599]) {
      const found = await submissions.findTransaction(idOf(n))
      expect(found, `${n}`).toMatchObject({ state: 'queued', cbor: new Uint8Array(numbered(n)), attempts: 0 })
    }
    expect(await submissions.findTransaction(idOf(600))).toBeUndefined()

    let isFirst = true
    const settled: Buffer[] = []
    const worker = createSubmissionWorker(
      backend,
      async ({ cbor: each }) => {
        // One copy of transaction 1 waits for its next delivery, alone in a job; the others are done.
        if (isFirst && numbered(1).equals(each)) {
          isFirst = false
          return { kind: 'later', afterMs: 3_600_000 }
        }
        settled.push(Buffer.from(each))
        return { kind: 'done' }
      },
      { concurrency: 700 },
    )
    await expect.poll(() => settled.length).toBe(many.length + 1)
    await expect.poll(() => submissions.findTransaction(idOf(0))).toBeUndefined()
    await expect.poll(() => submissions.findTransaction(idOf(599))).toBeUndefined()
    expect(await submissions.findTransaction(idOf(1))).toMatchObject({ state: 'validating', attempts: 0 })
    await worker.close()
  })

  test('are not found under what is no id, whatever the backend keeps under it', async (context) => {
    const submissions = createSubmissionQueue((await open(context)).backend)
    await submissions.add(cbor)
    for (const text of [
      '',
      '1',
      'meta',
      'wait',
      'id',
      'events',
      'stalled-check',
      '../x',
      `${'x'.repeat(99)}`,
      "' OR ''='",
    ]) {
      expect(await submissions.find(text), text).toBeUndefined()
    }
    expect(await submissions.find(`AAAAAAAAAAAA.0.1.1.0.${'A'.repeat(43)}`)).toMatchObject({ state: 'left' })
  })

  test('whose bytes are no transaction have no transaction id', async (context) => {
    const submissions = createSubmissionQueue((await open(context)).backend)
    for (const hex of ['00', '80', '84', '8300a0f5', '83a0a0f5', '8400a0f5f6', '84a1']) {
      const id = await submissions.add(Buffer.from(hex, 'hex'))
      const found = await submissions.find(id)
      expect(found).toMatchObject({ state: 'queued' })
      expect(found, hex).not.toHaveProperty('transactionId')
    }
  })
})

describe('adding in bulk', () => {
  const options = {
    maxItems: 500,
    quietIterations: 3,
    paceMs: 0,
    quietMs: 0,
    steadyQuietMs: 0,
    promptItems: 1,
  }

  test('items that arrive together, or during a call, share one call', async () => {
    const calls: number[][] = []
    let second: Promise<number[]> | undefined
    const double = addsInBulk<number, number>(async (items) => {
      calls.push([...items])
      if (calls.length === 1) second = Promise.all([double(3), double(4)])
      await new Promise(setImmediate)
      return items.map((item) => item * 2)
    }, options)
    const first = Promise.all([double(1), double(2)])
    expect(await first).toEqual([2, 4])
    expect(await second).toEqual([6, 8])
    expect(await double(5)).toBe(10)
    expect(calls).toEqual([[1, 2], [3, 4], [5]])
  })

  test('a call has at most the given number of items', async () => {
    const sizes: number[] = []
    const add = addsInBulk<number, number>(
      async (items) => {
        sizes.push(items.length)
        return items
      },
      { ...options, maxItems: 2 },
    )
    expect(await Promise.all([1, 2, 3, 4, 5].map(add))).toEqual([1, 2, 3, 4, 5])
    expect(sizes).toEqual([2, 2, 1])
  })

  test('a failed call rejects all of its items and no others', async () => {
    const add = addsInBulk<number, number>(async (items) => {
      if (items.includes(1)) throw new Error('refused')
      return items
    }, options)
    await expect(Promise.allSettled([add(1), add(2)])).resolves.toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ])
    expect(await add(3)).toBe(3)
  })

  test('a steady stream is collected until its pace or silence ends; many are not held back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const calls: number[][] = []
      const add = addsInBulk<number, number>(
        async (items) => {
          calls.push([...items])
          return items
        },
        { maxItems: 500, quietIterations: 0, paceMs: 10, quietMs: 3, steadyQuietMs: 3, promptItems: 5 },
      )
      const added: Promise<number>[] = []
      const settle = async () => {
        for (let n = 0; n < 5; n++) await new Promise(setImmediate)
      }
      const arrive = async (...items: number[]) => {
        added.push(...items.map(add))
        await settle()
      }
      const pass = async (milliseconds: number) => {
        vi.advanceTimersByTime(milliseconds)
        await settle()
      }
      await arrive(1)
      expect(calls, 'the first starts a call at once').toEqual([[1]])

      for (const item of [2, 3, 4, 5]) {
        await arrive(item)
        await pass(2)
      }
      expect(calls).toHaveLength(1)
      await pass(2)
      expect(calls.slice(1), 'the pace is over').toEqual([[2, 3, 4, 5]])

      await arrive(6)
      await pass(2)
      await arrive(7)
      await pass(2)
      expect(calls).toHaveLength(2)
      await pass(1)
      expect(calls.slice(2), 'nothing has arrived for a while').toEqual([[6, 7]])

      await arrive(8, 9, 10, 11)
      expect(calls).toHaveLength(3)
      await arrive(12)
      expect(calls.slice(3), 'many wait').toEqual([[8, 9, 10, 11, 12]])

      await pass(20)
      await arrive(13)
      expect(calls.slice(4), 'the last call was long ago').toEqual([[13]])
      expect(await Promise.all(added)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('waiting limit', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** A limit over a queue of which `waiting` are waiting, and what was added through it. */
  function limited(transactions: number, waiting = 0) {
    const queue = { waiting, counts: 0, countMs: 0, failing: false }
    const limits = { transactions, bytes: transactions * 100 }
    const limit = new WaitingLimit(limits, async () => {
      queue.counts++
      if (queue.countMs > 0) await new Promise((resolve) => setTimeout(resolve, queue.countMs))
      if (queue.failing) throw new Error('away')
      return { transactions: queue.waiting, bytes: queue.waiting * 10 }
    })
    const add = (bytes = 10) => limit.admit(bytes, async () => ++queue.waiting)
    return { queue, add, limit }
  }

  const later = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

  test('admits up to the limit and refuses beyond it', async () => {
    const { queue, add } = limited(5, 3)
    expect(await Promise.all([add(), add(), add(), add()])).toEqual([4, 5, undefined, undefined])
    expect(queue.waiting).toBe(5)
  })

  test('refuses what exceeds the bytes, and admits less', async () => {
    const { add } = limited(10, 3)
    expect(await add(971)).toBeUndefined()
    expect(await add(960)).toBe(4)
    expect(await add(11)).toBeUndefined()
    expect(await add(10)).toBe(5)
  })

  test('counts at most every 250 ms, however many are added', async () => {
    const { queue, add } = limited(1_000_000)
    for (let time = 0; time < 1000; time += 10) {
      await Promise.all(Array.from({ length: 100 }, () => add()))
      await later(10)
    }
    expect(queue.waiting).toBe(10_000)
    expect(queue.counts).toBeLessThanOrEqual(5)
  })

  test('admits again once transactions were taken from the queue', async () => {
    const { queue, add } = limited(2)
    await Promise.all([add(), add()])
    expect(await add()).toBeUndefined()
    queue.waiting = 0
    expect(await add(), 'within 250 ms').toBeUndefined()
    await later(250)
    expect(await add()).toBe(1)
    expect(await add()).toBe(2)
    expect(await add()).toBeUndefined()
  })

  test('notices what other processes add', async () => {
    const { queue, add } = limited(10)
    await add()
    queue.waiting = 10
    await later(250)
    // The count is refreshed without delaying the transaction that is due for it.
    await add()
    expect(await add()).toBeUndefined()
  })

  test('does not forget what is being added while it counts', async () => {
    const { queue, add, limit } = limited(3)
    await add()
    await later(250)
    queue.countMs = 100
    let finish: () => void = () => undefined
    const slow = limit.admit(10, () => new Promise<void>((resolve) => (finish = resolve)))
    const second = limit.admit(10, () => new Promise<void>(() => undefined))
    await later(100)
    expect(await add(), 'one waits and two are being added').toBeUndefined()
    finish()
    await slow
    void second
  })

  test('spends at most a twentieth of the time on counting', async () => {
    const { queue, add } = limited(1_000_000)
    queue.countMs = 100
    for (let time = 0; time < 10_000; time += 50) {
      void add()
      await later(50)
    }
    expect(queue.counts).toBeLessThanOrEqual(6)
  })

  test('admits while the count fails', async () => {
    const { queue, add } = limited(1)
    queue.failing = true
    expect(await add()).toBe(1)
  })
})

describe('by transaction', () => {
  const transaction = (letter: string) => letter.repeat(43)
  const place = 'AAAAAAAAAAAA.0.3.1'
  const names = new Map([
    [place, nameOfJob([`${place}.0.${transaction('a')}`, `${place}.1`, `${place}.2.${transaction('b')}`])],
  ])

  /** A finder over what `jobs` holds at each scan, and the number of scans. */
  function finderOver(jobs: { names: JobNames }, readMs = 0) {
    const scans = { count: 0 }
    const finder = new SubmissionFinder(async () => {
      scans.count++
      const read = jobs.names
      await new Promise((resolve) => setTimeout(resolve, readMs))
      return read
    })
    const find = (letter: string) => finder.find(transaction(letter), async (ids) => ids)
    return { finder, find, scans }
  }

  test('submissions are found by the place of their transaction in the name of a job', async () => {
    const { find } = finderOver({ names })
    expect(await find('a')).toEqual([`${place}.0.${transaction('a')}`])
    expect(await find('b')).toEqual([`${place}.2.${transaction('b')}`])
    expect(await find('c')).toBeUndefined()
  })

  test('a prefix that spans two names does not match', async () => {
    const jobs = { names: new Map([[place, 'xxxaaaaaaxxx']]) }
    expect(await finderOver(jobs).find('a')).toBeUndefined()
  })

  test('finds what a scan has seen without another one, and callers share a scan', async () => {
    const jobs = { names }
    const { find, scans } = finderOver(jobs, 5)
    await Promise.all(['a', 'b', 'c', 'd'].map(find))
    expect(scans.count).toBe(1)
    expect(await find('a')).toHaveLength(1)
    expect(scans.count).toBe(1)
  })

  test('a caller during a scan waits for the next one', async () => {
    const jobs = { names: new Map() as JobNames }
    const { find, scans } = finderOver(jobs, 5)
    const early = find('a')
    while (scans.count === 0) await new Promise(setImmediate)
    jobs.names = names
    const late = find('a')
    expect(await early).toBeUndefined()
    expect(await late).toHaveLength(1)
  })

  test('a failed scan rejects its callers, and the next caller scans again', async () => {
    let fails = true
    const finder = new SubmissionFinder(async () => {
      if (fails) throw new Error('away')
      return names
    })
    const find = () => finder.find(transaction('a'), async (ids) => ids)
    await expect(Promise.all([find(), find()])).rejects.toThrow('away')
    fails = false
    expect(await find()).toHaveLength(1)
  })
})

describe('job', () => {
  test('no id begins with a hyphen, which commands take for an option', () => {
    const ids = Array.from(
      { length: 500 },
      () => jobPacker({ transactions: 1, bytes: 1 })([Uint8Array.of(0)])[0]!.job.id,
    )
    expect(ids.filter((id) => id.startsWith('-'))).toEqual([])
  })
})
