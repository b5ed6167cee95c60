import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Layer1Error } from './errors.js'
import { type Layer1Reads, shareReads } from './shared-reads.js'
import type { Tip } from './types.js'

const tip: Tip = { slot: 7n, hash: 'ab'.repeat(32), height: 1 }

function provider() {
  return {
    utxosAt: vi.fn<Layer1Reads['utxosAt']>(async () => []),
    utxosByUnit: vi.fn<Layer1Reads['utxosByUnit']>(async () => []),
    utxosAsOf: vi.fn<Layer1Reads['utxosAsOf']>(async () => ({ utxos: [], slot: 1n })),
    utxosByPolicy: vi.fn<Layer1Reads['utxosByPolicy']>(async () => []),
    tip: vi.fn<Layer1Reads['tip']>(async () => tip),
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('shared reads', () => {
  it('answers 1,000 reads a second for a minute with at most 2 provider calls a second', async () => {
    const layer1 = provider()
    const times: number[] = []
    for (const read of [layer1.utxosAt, layer1.utxosByUnit, layer1.utxosByPolicy]) {
      read.mockImplementation(async () => {
        times.push(Date.now())
        return []
      })
    }
    layer1.tip.mockImplementation(async () => {
      times.push(Date.now())
      return tip
    })
    layer1.utxosAsOf.mockImplementation(async () => {
      times.push(Date.now())
      return { utxos: [], slot: 1n }
    })
    const reads = shareReads(layer1)
    const asked: Promise<unknown>[] = []
    for (let second = 0; second < 60; second++) {
      const now = Array.from({ length: 200 }, () => [
        reads.utxosAt('address'),
        reads.utxosByUnit('unit'),
        reads.utxosAsOf('address'),
        reads.utxosByPolicy('policy'),
        reads.tip(),
      ])
      asked.push(...now.flat())
      await vi.advanceTimersByTimeAsync(1000)
    }
    await vi.advanceTimersByTimeAsync(2000)
    await Promise.all(asked)
    // Any three consecutive calls span at least a second.
    expect(times.slice(2).every((time, n) => time - (times[n] ?? 0) >= 1000)).toBe(true)
    expect(times.length).toBeLessThanOrEqual(5 * 21)
  })

  it('asks again when the answer is no longer fresh', async () => {
    const layer1 = provider()
    const reads = shareReads(layer1, { freshForMs: 500 })
    await reads.tip()
    await vi.advanceTimersByTimeAsync(499)
    await reads.tip()
    expect(layer1.tip).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(2)
    await reads.tip()
    expect(layer1.tip).toHaveBeenCalledTimes(2)
  })

  it('asks again after `forget`', async () => {
    const layer1 = provider()
    const reads = shareReads(layer1)
    await reads.tip()
    reads.forget()
    await reads.tip()
    expect(layer1.tip).toHaveBeenCalledTimes(2)
  })

  it('shares reads of an address for each policy apart', async () => {
    const layer1 = provider()
    const reads = shareReads(layer1, { callsPerSecond: 10 })
    for (const policy of ['one', 'other', 'one', undefined]) {
      await reads.utxosAt('address', policy === undefined ? {} : { policy })
    }
    expect(layer1.utxosAt.mock.calls).toEqual([
      ['address', { policy: 'one' }],
      ['address', { policy: 'other' }],
      ['address', undefined],
    ])
  })

  it('shares a failure for a second', async () => {
    const layer1 = provider()
    layer1.tip.mockRejectedValueOnce(new Layer1Error('LAYER1_UNREACHABLE', 'away'))
    const reads = shareReads(layer1)
    await expect(reads.tip()).rejects.toMatchObject({ code: 'LAYER1_UNREACHABLE' })
    await expect(reads.tip()).rejects.toMatchObject({ code: 'LAYER1_UNREACHABLE' })
    expect(layer1.tip).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1001)
    expect(await reads.tip()).toEqual(tip)
  })

  it("ends one caller's wait without ending the shared request", async () => {
    const layer1 = provider()
    let answer: (found: Tip) => void = () => undefined
    layer1.tip.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)))
    const reads = shareReads(layer1)
    const controller = new AbortController()
    const impatient = reads.tip({ signal: controller.signal })
    const patient = reads.tip()
    controller.abort(new Error('gone'))
    await expect(impatient).rejects.toThrow('gone')
    answer(tip)
    expect(await patient).toEqual(tip)
    expect(layer1.tip).toHaveBeenCalledTimes(1)
  })
})
