import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type JobNames, nameOfJob, SubmissionFinder } from './by-transaction.js'
import { jobPacker } from './job.js'
import { HeldDeliveries } from './submission-worker.js'

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

describe('job', () => {
  test('no id begins with a hyphen, which commands take for an option', () => {
    const ids = Array.from(
      { length: 500 },
      () => jobPacker({ transactions: 1, bytes: 1 })([Uint8Array.of(0)])[0]!.job.id,
    )
    expect(ids.filter((id) => id.startsWith('-'))).toEqual([])
  })
})
