import { fromHex, toHex } from '@ratatosk/cbor'
import { removeBlock } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { commitJunk, registerAttacker } from './test/attacker.js'
import { accept, administrator, contracts, openChain, openRollup, queueOf, transfers } from './test/rollup.js'
import { openers } from './test/services.js'

const hashOf = (result: object): string => ('headerHash' in result ? String(result.headerHash) : '')

test.concurrent('removes a block with those behind it, and commits again', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, { maxUnconfirmed: 2 })
  const sent = transfers(6)
  await sequencer.run('init')
  const hashes: string[] = []
  for (const transaction of sent.slice(0, 5)) {
    await accept(store, [transaction])
    hashes.push(hashOf(await sequencer.run('commit')))
  }
  const unknown = 'ab'.repeat(28)
  expect(await sequencer.run('remove', { headerHash: unknown })).toMatchObject({
    kind: 'refused',
    code: 'SEQUENCER_NO_SUCH_BLOCK',
  })
  const [, headerHash] = hashes as [string, string]
  expect(await sequencer.run('remove', { headerHash })).toMatchObject({
    kind: 'removed',
    headerHash,
    removed: hashes.slice(1, 4).concat(hashes.slice(4)),
  })
  expect((await queueOf(chain.layer1)).blocks.map((block) => toHex(block.headerHash))).toEqual(
    hashes.slice(0, 1),
  )
  await until(async () => (await store.blocks.waiting(10)) === 4)

  await accept(store, sent.slice(5))
  // After the block whose element the removal paid back.
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 5 })
  await until(async () => (await sequencer.run('merge')).kind === 'merged' && (await everythingMerged(store)))
  await expectAgreement(store, chain.layer1, roots, sent)
  expect(await sequencer.run('remove', { headerHash: hashes[0]! })).toMatchObject({
    code: 'SEQUENCER_NO_SUCH_BLOCK',
  })
})

test.concurrent('removes the newest block, and merges the one before it', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  const sent = transfers(2)
  await sequencer.run('init')
  await accept(store, sent.slice(0, 1))
  const first = hashOf(await sequencer.run('commit'))
  await sequencer.run('remove', { headerHash: first })
  expect((await queueOf(chain.layer1)).blocks).toEqual([])

  const again = hashOf(await sequencer.run('commit'))
  await accept(store, sent.slice(1))
  const second = hashOf(await sequencer.run('commit'))
  expect(await sequencer.run('remove', { headerHash: second })).toMatchObject({ removed: [second] })
  // The block before it is the tail, in an output of the removal.
  await until(async () => (await sequencer.run('merge')).kind === 'merged')
  expect(toHex((await store.blocks.confirmed())!.headerHash)).toBe(again)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 1 })
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('prunes what an interrupted removal left behind, and commits it again', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const killed = await openRollup(context, store, chain.layer1)
  const sent = transfers(4)
  await killed.sequencer.run('init')
  const hashes: string[] = []
  for (const transaction of sent) {
    await accept(store, [transaction])
    hashes.push(hashOf(await killed.sequencer.run('commit')))
  }
  // The state left by a process that was killed after the first of three transactions.
  await killed.sequencer.close()
  const headerHash = hashes[1]!
  const { id } = await administrator(chain.layer1).send(
    removeBlock(contracts, await queueOf(chain.layer1), fromHex(headerHash)),
  )
  await chain.layer1.await(id)
  const { roots } = killed
  const { sequencer } = await openRollup(context, store, chain.layer1, { roots })
  await until(
    async () => (await store.blocks.newest())?.height === 1n && (await store.blocks.waiting(4)) === 3,
  )
  expect((await queueOf(chain.layer1)).blocks).toHaveLength(1)
  expect(await sequencer.run('remove', { headerHash })).toMatchObject({ code: 'SEQUENCER_NO_SUCH_BLOCK' })
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 3 })
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('removes the block of another operator, and keeps all that this store has committed', {
  timeout: 120_000,
}, async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  context.onTestFinished(chain.keepMining())
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  const sent = transfers(4)
  await sequencer.run('init')
  await accept(store, sent.slice(0, 2))
  const own = hashOf(await sequencer.run('commit'))
  const attacker = await registerAttacker(chain)
  await commitJunk(chain, attacker)
  await accept(store, sent.slice(2))
  expect(await sequencer.run('commit')).toMatchObject({ code: 'SEQUENCER_FOREIGN_QUEUE' })

  const junk = toHex((await queueOf(chain.layer1)).blocks[1]!.headerHash)
  expect(await sequencer.run('remove', { headerHash: junk })).toMatchObject({ removed: [junk] })
  expect((await queueOf(chain.layer1)).blocks.map(({ headerHash }) => toHex(headerHash))).toEqual([own])
  expect((await store.blocks.newest())?.state).not.toBe('removed')
  await until(async () => (await sequencer.run('commit')).kind === 'committed')
  await expectAgreement(store, chain.layer1, roots, sent)
})
