import type { Log } from '@ratatosk/ports'
import { expect, test } from 'vitest'
import { CommitWatch } from './commit-watch.js'
import { until } from './test/agreement.js'
import { accept, openChain, openRollup, transfers } from './test/rollup.js'
import { openers } from './test/services.js'

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
