import { genesisHeaderHash } from '@ratatosk/contracts'
import { initQueue } from '@ratatosk/layer1'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from '../test/agreement.js'
import {
  accept,
  administrator,
  contracts,
  genesis,
  openChain,
  openRollup,
  queueOf,
  transfers,
} from '../test/rollup.js'
import { openers } from '../test/services.js'

test.concurrent('a queue with two roots is burned, begun anew, and goes on', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { autoCommit: true })
  const sent = transfers(6)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await accept(store, sent.slice(0, 2))
  await until(async () => (await queueOf(chain.layer1)).blocks.length === 1)

  // A second init, past the lock.
  const state = {
    headerHash: genesisHeaderHash(),
    prevHeaderHash: genesisHeaderHash(),
    utxoRoot: await roots.root(),
    startTime: 0n,
    endTime: 0n,
    protocolVersion: 1n,
  }
  const { id } = await administrator(chain.layer1).send(initQueue(contracts, state))
  await chain.layer1.await(id)
  await accept(store, sent.slice(2, 4))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'broken-queue' })
  expect(await sequencer.run('merge')).toMatchObject({ kind: 'refused', code: 'broken-queue' })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'root-exists', count: 2 })

  expect(await sequencer.run('repair')).toEqual({ kind: 'repaired' })
  expect(await queueOf(chain.layer1)).toMatchObject({ roots: [], blocks: [], strays: [] })
  expect(await sequencer.run('repair')).toEqual({ kind: 'repaired' })
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await accept(store, sent.slice(4, 6))
  await until(async () => (await store.blocks.waiting(1)) === 0)
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('a reset burns and forgets everything, and init begins again with genesis', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  await sequencer.run('init')
  const sent = transfers(6)
  await accept(store, sent.slice(0, 3))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await accept(store, sent.slice(3))
  expect(await sequencer.run('reset')).toEqual({ kind: 'reset' })
  expect((await queueOf(chain.layer1)).roots).toEqual([])
  expect(await store.blocks.newest()).toBeUndefined()
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'not-initialised' })

  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  await accept(store, sent)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 6 })
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('a queue of another store is left alone', async (context) => {
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const [mine, other] = [
    await openers['PostgreSQL and Redis'](context),
    await openers['PostgreSQL and Redis'](context),
  ]
  const theirs = await openRollup(context, other.store, chain.layer1)
  await theirs.sequencer.run('init')
  await accept(other.store, transfers(2))
  expect(await theirs.sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await theirs.sequencer.close()

  await mine.store.applyGenesis(genesis)
  const warned: string[] = []
  const log = {
    info: () => undefined,
    warn: (_: object, message: string) => warned.push(message),
    error: () => undefined,
  }
  const { sequencer } = await openRollup(context, mine.store, chain.layer1, { autoCommit: true, log })
  await accept(mine.store, transfers(3))
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'foreign-queue' })
  expect(await sequencer.run('merge')).toMatchObject({ kind: 'refused', code: 'foreign-queue' })
  await until(async () => sequencer.snapshot().fault?.code === 'foreign-queue')
  expect(warned.filter((message) => message.includes('never had'))).toHaveLength(1)
  expect((await queueOf(chain.layer1)).blocks).toHaveLength(1)
  expect(await mine.store.blocks.newest()).toBeUndefined()
})
