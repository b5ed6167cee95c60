import type { Log } from '@ratatosk/ports'
import { describe, expect, test } from 'vitest'
import {
  CommitWatch,
  commitDefaults,
  createCommitPolicy,
  estimateDailyCost,
  typicalBlockCost,
} from './commit-policy.js'
import { until } from './test/agreement.js'
import { accept, openChain, openers, openRollup, transfers } from './test/rollup.js'

const hour = 3_600_000
const slots = { zeroTime: 500n, zeroSlot: 0n, slotLength: 1000 }
const fee = typicalBlockCost / 2n

interface Load {
  readonly commitEveryMs: number
  readonly hourlyBudget: bigint | undefined
  readonly commitAtTransactions?: number
  readonly commitAtFees?: bigint
  /** Transactions a second, each with the least fee of a layer-2 transfer. */
  readonly perSecond?: number
  readonly hours?: number
}

/** Runs the policy by a fake clock, second by second; every block is merged once it is an hour old. */
async function simulate({
  perSecond = 1,
  hours = 24,
  commitAtTransactions = 10_000,
  commitAtFees,
  ...settings
}: Load) {
  const warnings: string[] = []
  const log = { info() {}, error() {}, warn: (_: object, message: string) => warnings.push(message) }
  const policy = createCommitPolicy({ ...settings, commitAtTransactions, commitAtFees, slots, log })
  let waiting = 0
  let spent = 0n
  let maxInAnHour = 0n
  const commits: number[] = []
  const toMerge: number[] = []
  for (let now = 0; now < hours * hour; now += 1000) {
    waiting += perSecond
    while (toMerge[0] !== undefined && toMerge[0] <= now) {
      toMerge.shift()
      policy.merged(now, fee)
      spent += fee
    }
    const mempool = {
      count: async (limit: number) => Math.min(waiting, limit),
      fees: async () => BigInt(waiting) * 170_000n,
    }
    if (await policy.isDue(now, mempool)) {
      policy.committed(now, now, fee, false)
      commits.push(now)
      toMerge.push(now + hour)
      spent += fee
      waiting = 0
    }
    const lastHour = policy.meter.spent(now)
    if (lastHour > maxInAnHour) maxInAnHour = lastHour
  }
  return { commits, spent, maxInAnHour, warnings }
}

/** A policy without a budget. */
function everySecond() {
  const log = { info() {}, warn() {}, error() {} }
  const settings = { commitEveryMs: 1000, commitAtTransactions: 10_000, commitAtFees: undefined }
  return createCommitPolicy({ ...settings, hourlyBudget: undefined, slots, log })
}

describe('the commit policy', () => {
  test('returns when a block is due by age, from the beginning of the last commit', () => {
    const policy = everySecond()
    expect(policy.dueIn(5000)).toBe(0)
    policy.committed(5000, 5100, fee, false)
    expect(policy.dueIn(5400)).toBe(600)
    expect(policy.dueIn(6200)).toBe(0)
  })

  test('has one block in each slot of layer 1, however many transactions wait', async () => {
    const policy = everySecond()
    const many = { count: async (limit: number) => limit, fees: async (limit: bigint) => limit }
    policy.committed(6600, 6700, fee, true)
    expect(await policy.isDue(7499, many)).toBe(false)
    expect(policy.dueIn(7400)).toBe(100)
    expect(await policy.isDue(7500, many)).toBe(true)
    expect(policy.dueIn(7500)).toBe(0)
  })

  test('waits for twice as long as the last commit took, and at most twice the interval', () => {
    const policy = everySecond()
    const interval = (tookMs: number) => {
      policy.committed(5000, 5000 + tookMs, fee, false)
      return policy.dueIn(5000)
    }
    expect([500, 700, 60_000, 100].map(interval)).toEqual([1000, 1400, 2000, 1000])
  })

  test('stays within its budget for a day of one transaction a second, without a warning', async () => {
    const settings = commitDefaults.public
    const { commits, spent, maxInAnHour, warnings } = await simulate(settings)
    console.log(
      `${commits.length} blocks in a simulated day: ${Number(spent) / 1e6} ada, ` +
        `at most ${Number(maxInAnHour) / 1e6} ada an hour`,
    )
    expect(commits).toHaveLength(288)
    expect(spent).toBeLessThanOrEqual(estimateDailyCost({ ...settings, maturityWindowMs: hour }).fees)
    expect(maxInAnHour).toBeLessThanOrEqual(settings.hourlyBudget)
    expect(warnings).toEqual([])
  })

  test('warns at 80 % of the budget, then slows commits down, and merges within it', async () => {
    const hourlyBudget = 20_000_000n
    const { commits, spent, maxInAnHour, warnings } = await simulate({ commitEveryMs: 1000, hourlyBudget })
    expect(warnings[0]).toMatch(/80 % of the hourly budget/)
    expect(spent).toBeLessThanOrEqual(25n * hourlyBudget)
    // Merges are never delayed: they may exceed the budget by what was committed an hour before.
    expect(maxInAnHour).toBeLessThanOrEqual((3n * hourlyBudget) / 2n)
    expect(commits.length).toBeGreaterThan(24 * 20)
  })

  test('commits a block each time that it is asked on a devnet, once a second', async () => {
    const { commits } = await simulate({ ...commitDefaults.devnet, hours: 1 })
    expect(commits).toHaveLength(3600)
  })

  test('commits early when enough transactions or fees wait', async () => {
    const settings = { commitEveryMs: hour, hourlyBudget: undefined, hours: 1 }
    expect((await simulate({ ...settings, commitAtTransactions: 100 })).commits).toHaveLength(36)
    expect((await simulate({ ...settings, commitAtFees: 5_100_000n })).commits).toHaveLength(120)
  })

  test('commits one block an hour when the budget is below the cost of a block', async () => {
    const { commits } = await simulate({ commitEveryMs: 1000, hourlyBudget: 1n, hours: 6 })
    expect(commits.length).toBeGreaterThanOrEqual(3)
    expect(commits.length).toBeLessThanOrEqual(6)
  })
})

test('estimates a day at the old and at the new settings', () => {
  const maturityWindowMs = 7 * 24 * hour
  expect(estimateDailyCost({ commitEveryMs: 1000, maturityWindowMs })).toEqual({
    blocks: 86_400,
    fees: 47_520_000_000n,
    locked: 1_814_400_000_000n,
    isLimitedByBudget: false,
  })
  expect(estimateDailyCost({ ...commitDefaults.public, maturityWindowMs })).toMatchObject({
    blocks: 288,
    fees: 158_400_000n,
    isLimitedByBudget: false,
  })
  expect(
    estimateDailyCost({ commitEveryMs: 1000, hourlyBudget: 20_000_000n, maturityWindowMs }),
  ).toMatchObject({
    blocks: 872,
    isLimitedByBudget: true,
  })
})

const blockValidityMs = 2500

/** An initialised rollup whose layer 1 makes blocks only on request from now on, and what it warns of. */
async function openQuiet(context: Parameters<typeof openChain>[0]) {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const warnings: string[] = []
  const log: Log = { info: () => undefined, warn: (_, text) => warnings.push(text), error: () => undefined }
  const { sequencer } = await openRollup(context, store, chain.layer1, {
    autoCommit: true,
    blockValidityMs,
    log,
  })
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  await accept(store, transfers(1))
  await until(async () => chain.devnet.mempool().length === 1)
  expect(sequencer.overdueMs).toBe(undefined)
  const isIncluded = async () => (await store.blocks.newest())?.state === 'committed'
  const late = () => warnings.filter((text) => text.startsWith('Layer 1 has included no commit for'))
  return { chain, sequencer, isIncluded, late }
}

test.concurrent('reports once that layer 1 makes no block with a commit, until it does', async (context) => {
  const { chain, sequencer, isIncluded, late } = await openQuiet(context)
  await until(async () => sequencer.overdueMs !== undefined)
  expect(sequencer.overdueMs).toBeGreaterThan(blockValidityMs)
  await until(async () => late().length > 0)
  await chain.mine()
  await until(isIncluded)
  await until(async () => sequencer.overdueMs === undefined)
  expect(late()).toHaveLength(1)
})

test.concurrent('reports that commits expire one after the other, and are built again', async (context) => {
  const { chain, sequencer, isIncluded, late } = await openQuiet(context)
  await until(async () => {
    if (chain.devnet.mempool().length > 0) {
      // All transactions of the mempool expire.
      chain.clock.time += 60_000
      await chain.mine()
    }
    return sequencer.overdueMs !== undefined
  })
  await until(async () => late().length > 0)
  await until(async () => {
    if (chain.devnet.mempool().length > 0) await chain.mine()
    return isIncluded()
  })
  await until(async () => sequencer.overdueMs === undefined)
  expect(late()).toHaveLength(1)
})

test('is silent once no commit is sent any more', () => {
  const clock = { time: 0 }
  const one = Uint8Array.of(1)
  const log: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const watch = new CommitWatch({ blockValidityMs, log, now: () => clock.time })
  watch.see([{ id: one, kind: 'commit' }])
  clock.time = blockValidityMs + 1
  watch.see([{ id: one, kind: 'commit' }])
  expect(watch.overdueMs).toBe(blockValidityMs + 1)
  watch.missed(one.slice())
  watch.see([])
  expect(watch.overdueMs).toBe(blockValidityMs + 1)
  clock.time += blockValidityMs + 1
  expect(watch.overdueMs).toBe(undefined)
  watch.see([{ id: Uint8Array.of(2), kind: 'commit' }])
  expect(watch.overdueMs).toBe(2 * blockValidityMs + 2)
})
