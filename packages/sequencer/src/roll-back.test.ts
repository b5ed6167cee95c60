import { toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { accept, openChain, openers, openRollup, transfers } from './test/rollup.js'

const runs = Number(process.env.RATATOSK_ROLL_BACKS ?? 1)

/** The events of layer 1, each with the number of blocks after the one before. */
const event = fc.record({
  depth: fc.constantFrom(1, 2, 10),
  resubmit: fc.boolean(),
  after: fc.integer({ min: 0, max: 12 }),
  /** Milliseconds: into the middle of some step. */
  moment: fc.integer({ min: 0, max: 60 }),
  transactions: fc.integer({ min: 1, max: 4 }),
})

test(`layer 1, store and output trie agree again after roll-backs, in ${runs} random histories`, {
  timeout: 30_000 + runs * 30_000,
}, async (context) => {
  const open = openers['PostgreSQL and Redis']
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 8 }), async (events) => {
      const closing: (() => unknown)[] = []
      const inner = { ...context, onTestFinished: (end: () => unknown) => void closing.push(end) }
      const scene = inner as unknown as typeof context
      try {
        const { store } = await open(scene)
        const chain = await openChain(scene)
        const { sequencer, roots } = await openRollup(scene, store, chain.layer1, {
          autoCommit: true,
          autoMerge: true,
          blockValidityMs: 15_000,
        })
        const stop = chain.keepMining()
        closing.push(stop)
        expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
        // Deeper than all roll-backs together: a queue that never began is for init to begin.
        await chain.mine(90)
        const sent = transfers(40)
        let given = 0
        for (const { depth, resubmit, after, moment, transactions } of events) {
          await accept(store, sent.slice(given, given + transactions))
          given += transactions
          const height = chain.devnet.tip().height + after
          await until(async () => chain.devnet.tip().height >= height)
          await new Promise((resolve) => setTimeout(resolve, moment))
          await chain.devnet.rollBack(depth, { resubmit })
        }
        await until(() => everythingMerged(store))
        // A roll-back may still be unseen.
        await chain.mine(1)
        await until(() => everythingMerged(store))
        await expectAgreement(store, chain.layer1, roots, sent.slice(0, given))
      } finally {
        for (const end of closing.reverse()) await end()
      }
    }),
    { numRuns: runs, endOnFailure: true },
  )
})

test('restores a removed block that layer 1 has after all', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { autoCommit: true })
  await sequencer.run('init')
  await stop()
  await chain.mine(12)
  await chain.nextTurn()
  const sent = transfers(3)
  const isCommitted = async () => (await store.blocks.newest())?.state === 'committed'
  const built = async (other?: Uint8Array) => {
    const newest = await store.blocks.newest()
    return newest?.state === 'submitted' && toHex(newest.headerHash) !== toHex(other ?? new Uint8Array())
  }
  await accept(store, sent.slice(0, 2))
  await until(() => built())
  await chain.mine()
  await until(isCommitted)
  const first = (await store.blocks.newest())!
  const { height } = chain.devnet.tip()
  const { time } = chain.clock

  // Its validity passes without it, so that its transactions go into another block.
  await chain.devnet.rollBack(1)
  chain.clock.time += 60_000
  await chain.devnet.produceBlock()
  await accept(store, sent.slice(2))
  await until(() => built(first.headerHash))
  await chain.mine()
  await until(isCommitted)
  const second = (await store.blocks.newest())!
  expect(second.transactions).toBe(3)
  expect((await store.blocks.byHash(first.headerHash))?.state).toBe('removed')

  // The other branch of layer 1 wins in the end.
  chain.clock.time = time
  await chain.devnet.rollBack(chain.devnet.tip().height - height + 1)
  await chain.layer1.submit(first.commitTransaction!.cbor)
  await chain.mine()
  await until(async () => (await store.blocks.byHash(first.headerHash))?.state === 'committed')
  expect((await store.blocks.byHash(second.headerHash))?.state).toBe('removed')
  await until(async () => (await store.blocks.newest())?.height === 2n)
  await chain.mine()
  await until(isCommitted)
  await expectAgreement(store, chain.layer1, roots, sent)
})

test('merges a block again whose merge was rolled back', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { autoMerge: true })
  await sequencer.run('init')
  const sent = transfers(2)
  await accept(store, sent)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
  await stop()
  const state = async () => (await store.blocks.newest())?.state
  // To where it is mature.
  await chain.mine(50)
  await until(async () => chain.devnet.mempool().length > 0)
  await chain.mine()
  await until(async () => (await state()) === 'merged')
  for (const resubmit of [true, false]) {
    await chain.devnet.rollBack(1, { resubmit })
    await until(async () => (await state()) === 'mature' && chain.devnet.mempool().length > 0)
    await chain.mine()
    await until(async () => (await state()) === 'merged')
    await expectAgreement(store, chain.layer1, roots, sent)
  }
})
