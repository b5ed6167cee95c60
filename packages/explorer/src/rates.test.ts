import { expect, onTestFinished, test, vi } from 'vitest'
import { createRates } from './rates.js'
import { options } from './test/ports.js'

const minute = 60_000
const now = Date.parse('2026-03-04T05:06:07.891Z')
const begin = Math.floor(now / minute) * minute

/** Acceptances, `perMinute` in each of the minutes before now, counted in parts. */
function ledgerOf(head: bigint, perMinute: number, parts: [bigint, bigint][]) {
  const minuteOf = (sequence: bigint) => begin - Math.floor(Number(head - sequence) / perMinute) * minute
  return {
    reads: {
      ...options.reads,
      accepted: async (after: bigint, to: bigint, limit: number) => {
        const last = after + BigInt(limit) < to ? after + BigInt(limit) : to
        parts.push([after, last])
        const counts = new Map<number, number>()
        for (let sequence = after + 1n; sequence <= last; sequence++) {
          const at = minuteOf(sequence)
          counts.set(at, (counts.get(at) ?? 0) + 1)
        }
        const minutes = Array.from(counts, ([at, transactions]) => ({ minute: new Date(at), transactions }))
        return { minutes, last: last > after ? last : undefined }
      },
      acceptedBefore: async (to: bigint, count: number) => (to > count ? to - BigInt(count) : 0n),
    },
    ledger: { ...options.ledger, head: async () => ({ accepted: head, rejected: 0n }) },
    clock: () => now,
  }
}

test('a short history is counted from its begin', async () => {
  const rates = createRates(ledgerOf(30n, 10, []))
  const { since, minutes } = await rates.answer(4)
  expect(since).toBe(new Date(begin - 3 * minute).toISOString())
  expect(minutes.map(({ accepted }) => accepted)).toEqual([0, 10, 10, 10])
})

test('of a long history only complete minutes have a number', async () => {
  const parts: [bigint, bigint][] = []
  const rates = createRates(ledgerOf(100_000n, 8_000, parts))
  const { since, minutes } = await rates.answer(4)
  expect(parts).toEqual([
    [80_000n, 90_000n],
    [90_000n, 100_000n],
  ])
  expect(minutes.map(({ accepted }) => accepted)).toEqual([undefined, undefined, 8_000, 8_000])
  expect(since).toBe(new Date(begin - minute).toISOString())
})

test('answers at the same time and later ones count nothing twice', async () => {
  const parts: [bigint, bigint][] = []
  const rates = createRates(ledgerOf(30n, 10, parts))
  await Promise.all([rates.answer(1), rates.answer(60), rates.follow()])
  const { minutes } = await rates.answer(1)
  expect(minutes).toMatchObject([{ accepted: 10 }])
  expect(parts).toEqual([[0n, 30n]])
})

test('a failure at the start makes no minute complete', async () => {
  const ports = ledgerOf(100_000n, 8_000, [])
  const { accepted } = ports.reads
  let isDown = true
  ports.reads.accepted = async (...part) => {
    if (isDown) throw new Error('down')
    return accepted(...part)
  }
  const rates = createRates(ports)
  await expect(rates.answer(4)).rejects.toThrow('down')
  isDown = false
  const { minutes } = await rates.answer(4)
  expect(minutes.map(({ accepted }) => accepted)).toEqual([undefined, undefined, 8_000, 8_000])
})

test('readers of different numbers of minutes share what the store has', async () => {
  const ports = ledgerOf(30n, 10, [])
  let reads = 0
  const moved = async () => {
    reads++
    return [{ minute: new Date(begin - 2 * minute), transactions: 3 }]
  }
  const rates = createRates({ ...ports, reads: { ...ports.reads, moved } })
  const counts = Array.from({ length: 60 }, (_, index) => index + 1)
  const answers = await Promise.all(counts.map((count) => rates.answer(count)))
  expect(reads).toBe(2)
  expect(answers.map(({ minutes }) => minutes.length)).toEqual(counts)
  expect(answers[1]?.since).toBe(new Date(begin - minute).toISOString())
  expect(answers[2]?.minutes.map(({ merged }) => merged)).toEqual([3, 0, 0])
})

test('what was just accepted is counted, although what the store adds up is shared', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const ports = ledgerOf(30n, 10, [])
  let head = 30n
  let sums = 0
  const rates = createRates({
    ...ports,
    reads: {
      ...ports.reads,
      accepted: async (after, to) => ({
        minutes: [{ minute: new Date(begin), transactions: Number(to - after) }],
        last: to,
      }),
      moved: async () => {
        sums++
        return []
      },
    },
    ledger: { ...ports.ledger, head: async () => ({ accepted: head, rejected: 0n }) },
  })
  expect((await rates.answer(1)).minutes).toMatchObject([{ accepted: 30 }])
  head = 31n
  vi.advanceTimersByTime(500)
  expect((await rates.answer(1)).minutes).toMatchObject([{ accepted: 31 }])
  expect(sums).toBe(2)
})
