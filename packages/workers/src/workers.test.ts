import { StoreError } from '@ratatosk/store'
import { chain, freeOfCharge, fundsOf, keyOf } from '@ratatosk/test-kit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { recordActivity } from './activity.js'
import { Batcher, isUnavailable, storeRetry } from './batch-runner.js'
import { type Candidate, examine, isCandidate } from './examine.js'
import { Orphans } from './orphans.js'

describe('activity', () => {
  const delivery = { id: '7', cbor: new Uint8Array(), attempt: 2, submittedAt: new Date(0) }

  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function recorded() {
    const lines: object[] = []
    const activity = recordActivity({ info: (fields) => lines.push(fields), warn() {}, error() {} })
    return { lines, activity }
  }

  test('logs one summary a second while there is work, and none otherwise', () => {
    const { lines, activity } = recorded()
    for (let second = 0; second < 3; second++) {
      for (let n = 0; n < 100; n++) activity.settled(delivery, { kind: 'accepted' })
      activity.examined(2)
      activity.batch(3, 7)
      vi.advanceTimersByTime(1000)
    }
    vi.advanceTimersByTime(10_000)
    const line = {
      accepted: 100,
      known: 0,
      rejected: 0,
      postponed: 0,
      deferred: 0,
      released: 0,
      batches: 1,
      busyMs: 7,
    }
    expect(lines).toEqual([line, line, line])
    expect(activity.stats()).toMatchObject({
      accepted: 300,
      examineMs: 6,
      batches: 3,
      batchDeliveries: 9,
      batchMs: 21,
    })
  })

  test('logs the remaining counts when it closes', () => {
    const { lines, activity } = recorded()
    activity.settled(delivery, { kind: 'known' })
    activity.close()
    expect(lines).toMatchObject([{ known: 1 }])
    activity.close()
    vi.advanceTimersByTime(2000)
    expect(lines).toHaveLength(1)
  })

  test('logs the reasons of at most five dead letters between two summaries', () => {
    const { lines, activity } = recorded()
    const failures = [{ predicate: 'FeeTooSmallUTxO', message: 'The fee is too small', details: {} }]
    for (let n = 0; n < 20; n++) activity.settled(delivery, { kind: 'rejected', failures, transaction: 'ab' })
    expect(lines).toHaveLength(5)
    const reason = 'The fee is too small'
    expect(lines[0]).toEqual({ submission: '7', tx: 'ab', attempts: 2, code: 'FeeTooSmallUTxO', reason })
    vi.advanceTimersByTime(1000)
    expect(lines.at(-1)).toMatchObject({ rejected: 20 })
    activity.settled(delivery, { kind: 'rejected', failures })
    expect(lines).toHaveLength(7)
  })
})

describe('orphans', () => {
  const context = { parameters: freeOfCharge, networkId: 0, slot: 0n }
  const [funds] = fundsOf(keyOf(2), 1, 10_000_000n)
  const links = chain(keyOf(2), funds!.reference, 10_000_000n, 5).map(({ cbor }): Candidate => {
    const examined = examine(cbor, context)
    if (!isCandidate(examined)) throw new Error('not a transaction')
    return examined
  })
  const size = links[0]!.transaction.bytes.length

  function following(orphans: Orphans, candidates: readonly Candidate[], now = 0): readonly Candidate[] {
    return orphans.following(candidates, now).map(({ candidate }) => candidate)
  }

  function keep(orphans: Orphans, n: number, until = 1000): void {
    orphans.keep(links[n]!, [links[n]!.named[0]!.key], until)
  }

  test('finds the transactions that can follow, and those that can follow them', () => {
    const orphans = new Orphans({ count: 10, bytes: 100_000 })
    for (const n of [4, 1, 2]) keep(orphans, n)
    expect(following(orphans, [links[0]!])).toEqual([links[1], links[2]])
    expect(following(orphans, [links[0]!, links[3]!])).toEqual([links[1], links[4], links[2]])
    expect(following(orphans, [links[2]!])).toEqual([])
  })

  test('does not find a candidate of the batch itself', () => {
    const orphans = new Orphans({ count: 10, bytes: 100_000 })
    keep(orphans, 1)
    expect(following(orphans, [links[0]!, links[1]!])).toEqual([])
  })

  test('does not find a copy that has expired or was dropped', () => {
    const orphans = new Orphans({ count: 10, bytes: 100_000 })
    keep(orphans, 1, 1000)
    expect(following(orphans, [links[0]!], 999)).toEqual([links[1]])
    expect(following(orphans, [links[0]!], 1000)).toEqual([])
    expect(orphans.size).toBe(0)
    keep(orphans, 1)
    orphans.drop(links[1]!.key)
    expect(following(orphans, [links[0]!])).toEqual([])
  })

  test.each([
    { count: 2, bytes: 100_000 },
    { count: 10, bytes: 2 * size },
  ])('keeps the newest copies within %j', (limits) => {
    const orphans = new Orphans(limits)
    for (const n of [1, 2, 3]) keep(orphans, n)
    expect(orphans.size).toBe(2)
    expect(following(orphans, [links[0]!])).toEqual([])
    expect(following(orphans, [links[1]!])).toEqual([links[2], links[3]])
    keep(orphans, 2)
    keep(orphans, 4)
    expect(following(orphans, [links[1]!])).toEqual([links[2]])
  })

  test('a copy without verified signatures does not replace one that has them', () => {
    const orphans = new Orphans({ count: 10, bytes: 100_000 })
    keep(orphans, 1)
    orphans.keep({ ...links[1]!, verified: false }, [links[1]!.named[0]!.key], 2000)
    expect(following(orphans, [links[0]!])).toEqual([links[1]])
    expect(orphans.until(links[1]!.key)).toBe(2000)
  })
})

describe('retry while unavailable', () => {
  function createRetry(signal = new AbortController().signal) {
    const events: string[] = []
    const { retryWhileUnavailable } = storeRetry({
      signal,
      onUnavailable: (error) => events.push(error.message),
      onAvailable: () => events.push('available'),
    })
    return { events, retryWhileUnavailable }
  }

  /** Fails with each of the errors, then succeeds. */
  function failing(...errors: Error[]) {
    return async () => {
      const error = errors.shift()
      if (error !== undefined) throw error
      return 'done'
    }
  }

  const unavailable = new StoreError('STORE_UNAVAILABLE', 'unavailable')
  const conflict = new StoreError('STORE_CONFLICT', 'changed')

  test('waits for an unavailable store and reports the outage once', async () => {
    const { retryWhileUnavailable, events } = createRetry()
    expect(await retryWhileUnavailable(failing(unavailable, unavailable))).toBe('done')
    expect(events).toEqual(['unavailable', 'available'])
  })

  test('retries conflicts at once, a few times', async () => {
    const { retryWhileUnavailable, events } = createRetry()
    expect(await retryWhileUnavailable(failing(conflict, conflict))).toBe('done')
    const conflicts = Array.from({ length: 9 }, () => conflict)
    await expect(retryWhileUnavailable(failing(...conflicts))).rejects.toBe(conflict)
    expect(events).toEqual([])
  })

  test('does not retry other errors', async () => {
    const defect = new StoreError('STORE_FAILED', 'defect')
    await expect(createRetry().retryWhileUnavailable(failing(defect))).rejects.toBe(defect)
  })

  test('gives up when the worker closes', async () => {
    const closing = new AbortController()
    const { retryWhileUnavailable } = createRetry(closing.signal)
    const result = retryWhileUnavailable(failing(...Array.from({ length: 99 }, () => unavailable)))
    setTimeout(() => closing.abort(), 20)
    await expect(result).rejects.toSatisfy(isUnavailable)
  })
})

describe('batcher', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  /** A batcher that records its batches, each of which runs until `finish` is called. */
  function recording(limits: ConstructorParameters<typeof Batcher>[0]) {
    const batches: (readonly number[])[] = []
    let finish = () => {}
    const batcher = new Batcher<number>(limits, (items) => {
      batches.push(items)
      return new Promise((resolve) => {
        finish = resolve
      })
    })
    return {
      batches,
      batcher,
      add: (...items: readonly number[]) => {
        for (const item of items) batcher.add(item)
      },
      async finish() {
        finish()
        await vi.advanceTimersByTimeAsync(0)
      },
    }
  }

  test('runs a full batch at once and a smaller one when nothing more arrives', async () => {
    const { batches, add, finish } = recording({ size: 3, quietMs: 5, maxMs: 50 })
    add(1, 2, 3)
    expect(batches).toEqual([[1, 2, 3]])
    await finish()
    add(4, 5)
    await vi.advanceTimersByTimeAsync(4)
    expect(batches).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
  })

  test('is busy while more than a batch is waiting or running', async () => {
    const { batcher, add, finish } = recording({ size: 2, quietMs: 5, maxMs: 50 })
    expect(batcher.busy).toBe(false)
    add(1, 2)
    expect(batcher.busy).toBe(false)
    add(3)
    expect(batcher.busy).toBe(true)
    await finish()
    expect(batcher.busy).toBe(false)
  })

  test('collects items that arrive close together, for so long at most', async () => {
    const { batches, add } = recording({ size: 100, quietMs: 5, maxMs: 20 })
    for (const item of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
      add(item)
      await vi.advanceTimersByTimeAsync(4)
    }
    expect(batches).toEqual([[0, 1, 2, 3, 4]])
  })

  test('does not wait for others longer than a pause', async () => {
    const { batches, add } = recording({ size: 100, quietMs: 5, maxMs: 20 })
    add(1)
    await vi.advanceTimersByTimeAsync(4)
    add(2)
    await vi.advanceTimersByTimeAsync(4)
    expect(batches).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[1, 2]])
  })

  test('waits longer for others after a batch of several, unless there was a pause', async () => {
    const { batches, add, finish } = recording({ size: 100, quietMs: 5, maxMs: 50 })
    add(1, 2, 3, 4)
    await vi.advanceTimersByTimeAsync(5)
    await finish()
    for (const item of [5, 6]) {
      add(item)
      await vi.advanceTimersByTimeAsync(24)
    }
    expect(batches).toEqual([[1, 2, 3, 4]])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ])
    await finish()
    add(7)
    await vi.advanceTimersByTimeAsync(5)
    expect(batches.at(-1), 'a client that waits for each of its transactions').toEqual([7])
    await finish()
    add(8, 9, 10, 11)
    await vi.advanceTimersByTimeAsync(5)
    await finish()
    await vi.advanceTimersByTimeAsync(50)
    add(12)
    await vi.advanceTimersByTimeAsync(5)
    expect(batches.at(-1), 'after a pause').toEqual([12])
  })

  test('runs one batch at a time and collects the next one meanwhile', async () => {
    const { batches, add, finish } = recording({ size: 2, quietMs: 1, maxMs: 1 })
    add(1, 2, 3, 4, 5)
    await vi.advanceTimersByTimeAsync(20)
    expect(batches).toEqual([[1, 2]])
    await finish()
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ])
    await finish()
    expect(batches).toEqual([[1, 2], [3, 4], [5]])
  })
})
