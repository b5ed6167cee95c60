import type { Wallet } from '@ratatosk/layer1'
import { mergeBlock } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { everythingMerged, expectAgreement, until } from './test/agreement.js'
import { commitJunk, registerAttacker } from './test/attacker.js'
import {
  accept,
  contracts,
  openChain,
  openRollup,
  queueOf,
  type TestChain,
  transfers,
} from './test/rollup.js'
import { openers } from './test/services.js'

async function mergeJunk({ layer1, devnet }: TestChain, attacker: Wallet): Promise<void> {
  await until(async () => {
    const queue = await queueOf(layer1)
    if (queue.blocks.length === 0) return true
    try {
      const slot = await layer1.currentSlot()
      const { id } = await attacker.send(mergeBlock(contracts, { queue, slot, slots: devnet.slots }))
      await layer1.await(id)
    } catch {
      // Not mature yet.
    }
    return false
  })
}

test.concurrent.for([
  ['while his block is unmerged', false],
  ['after his block was merged into the confirmed state', true],
] as const)(
  'repair recovers a queue that another operator extended, %s, and commits everything accepted again',
  { timeout: 240_000 },
  async ([_when, merges], context) => {
    const { store } = await openers['PostgreSQL and Redis'](context)
    const chain = await openChain(context)
    context.onTestFinished(chain.keepMining())
    const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
      autoCommit: true,
      autoMerge: true,
    })
    const sent = transfers(8)
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    await accept(store, sent.slice(0, 2))
    await until(() => everythingMerged(store))
    const merged = (await store.blocks.confirmed())!

    const attacker = await registerAttacker(chain)
    await accept(store, sent.slice(2, 4))
    await until(async () => (await store.blocks.newest())!.state !== 'merged')
    await commitJunk(chain, attacker)
    await accept(store, sent.slice(4, 6))
    await until(async () => sequencer.snapshot().fault?.code === 'SEQUENCER_FOREIGN_QUEUE')
    if (merges) await mergeJunk(chain, attacker)

    expect(await sequencer.run('repair')).toEqual({ kind: 'repaired' })
    expect(await queueOf(chain.layer1)).toMatchObject({ roots: [], blocks: [], strays: [] })
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    const { headerHash: confirmed } = (await queueOf(chain.layer1)).roots[0]!.datum.state
    expect((await store.blocks.byHash(confirmed))?.height).toBeGreaterThanOrEqual(merged.height)

    await accept(store, sent.slice(6))
    await until(() => everythingMerged(store), 120_000)
    await expectAgreement(store, chain.layer1, roots, sent)
  },
)
