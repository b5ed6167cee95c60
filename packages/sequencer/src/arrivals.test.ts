import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { openRoots, type Roots } from './roots/index.js'
import { expectAgreement, until } from './test/agreement.js'
import { accept, contracts, openChain, openRollup, transfers } from './test/rollup.js'
import { openers } from './test/services.js'

test.concurrent('records that a block has entered the queue while the next one is built', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const roots = await openRoots()
  const gate = new EventEmitter()
  const released = once(gate, 'open')
  let applied = 0
  const slow: Roots = {
    ...roots,
    async applyWithin(...asked) {
      if (++applied === 2) await released
      return roots.applyWithin(...asked)
    },
  }
  // Time stands still, and both blocks end within the turn.
  const options = { roots: slow, autoCommit: true, blockValidityMs: 25_000 }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  const [first, second] = [transfers(1), transfers(1, 1)]
  const states = async () => (await store.blocks.range(1n, 9n)).map(({ state }) => state).join()
  await accept(store, first)
  await until(async () => (await states()) === 'submitted')
  await accept(store, second)
  await until(async () => applied === 2)
  await chain.mine()
  await until(async () => (await states()) === 'committed')
  gate.emit('open')
  await until(async () => (await states()) === 'committed,submitted')
  await chain.mine()
  await until(async () => (await states()) === 'committed,committed')
  await expectAgreement(store, chain.layer1, roots, [...first, ...second])
})

test.concurrent('reads little more than the tip of layer 1 until it has another block', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  let [tips, reconciliations] = [0, 0]
  const { layer1 } = chain
  const counted: typeof layer1 = {
    ...layer1,
    tip(...asked) {
      tips++
      return layer1.tip(...asked)
    },
    utxosByUnit(unit, ...asked) {
      if (unit === contracts.scripts.queue.unit) reconciliations++
      return layer1.utxosByUnit(unit, ...asked)
    },
  }
  const options = { autoCommit: true, pollMs: 100, mergeEveryMs: 60_000 }
  const { sequencer } = await openRollup(context, store, counted, options)
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  await accept(store, transfers(1))
  await until(async () => (await store.blocks.newest())?.state === 'submitted')
  ;[tips, reconciliations] = [0, 0]
  await until(async () => tips >= 12)
  expect(reconciliations).toBeGreaterThan(0)
  expect(reconciliations).toBeLessThan(tips)
  await chain.mine()
  await until(async () => (await store.blocks.newest())?.state === 'committed')
})

test.concurrent('reads an empty mempool again only after an arrival', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  let [tips, reads, accepted] = [0, 0, 0]
  const { layer1 } = chain
  const counted: typeof layer1 = {
    ...layer1,
    tip(...asked) {
      tips++
      return layer1.tip(...asked)
    },
  }
  const blocks: typeof store.blocks = {
    ...store.blocks,
    waiting(...asked) {
      reads++
      return store.blocks.waiting(...asked)
    },
  }
  const options = { autoCommit: true, mergeEveryMs: 600_000, arrivals: () => accepted }
  const { sequencer } = await openRollup(context, { ...store, blocks }, counted, options)
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  tips = 0
  await until(async () => tips >= 10)
  ;[tips, reads] = [0, 0]
  await until(async () => tips >= 10)
  expect(reads).toBe(0)
  await accept(store, transfers(1))
  accepted++
  await until(async () => (await store.blocks.newest())?.state === 'submitted')
  expect(reads).toBeGreaterThan(0)
})
