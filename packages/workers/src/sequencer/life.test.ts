import { toHex } from '@ratatosk/ledger'
import { describe, expect, test } from 'vitest'
import { accept, openChain, openRollup, queueOf, transfers, user } from '../test/rollup.js'
import { openers } from '../test/services.js'

describe.each(Object.entries(openers))('%s', (_, open) => {
  test('a block goes from the mempool to the confirmed state', async (context) => {
    const { store } = await open(context)
    const chain = await openChain(context)
    const stop = chain.keepMining()
    context.onTestFinished(stop)
    const { sequencer, roots } = await openRollup(context, store, chain.layer1)
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'refused', code: 'not-initialised' })
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    expect(await sequencer.run('init')).toMatchObject({ kind: 'root-exists', count: 1 })
    expect(await sequencer.run('commit')).toEqual({ kind: 'nothing-to-commit' })
    const sent = transfers(3)
    await accept(store, sent)
    const before = await store.history(user.address, { limit: 100, offset: 0 })
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 3 })
    const [block] = (await queueOf(chain.layer1)).blocks
    expect(toHex((await store.blocks.newest())!.headerHash)).toBe(block?.headerHash)
    expect(await sequencer.run('merge')).toEqual({ kind: 'nothing-to-merge' })
    await chain.mine(40)
    expect(await sequencer.run('merge')).toMatchObject({
      kind: 'merged',
      headerHash: block?.headerHash,
    })
    expect(await store.history(user.address, { limit: 100, offset: 0 })).toEqual(before)
    const queue = await queueOf(chain.layer1)
    expect(queue.blocks).toEqual([])
    expect(toHex(queue.roots[0]!.datum.state.utxoRoot)).toBe(toHex(await roots.root()))
  })
})
