import { endOfTurn } from '@ratatosk/contracts'
import { slotToTime, toHex } from '@ratatosk/ledger'
import { describe, expect, test } from 'vitest'
import { expectAgreement, until } from '../test/agreement.js'
import { accept, contracts, openChain, openRollup, queueOf, transfers, user } from '../test/rollup.js'
import { operatorKeys } from '../test/rollup-contracts.js'
import { openers } from '../test/services.js'
import { refundAddress } from './life/refunds.js'

describe.concurrent.each(Object.entries(openers))('%s', (_, open) => {
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
    await chain.mine(50)
    expect(await sequencer.run('merge')).toMatchObject({
      kind: 'merged',
      headerHash: block?.headerHash,
    })
    expect(await store.history(user.address, { limit: 100, offset: 0 })).toEqual(before)
    const queue = await queueOf(chain.layer1)
    expect(queue.blocks).toEqual([])
    expect(toHex(queue.roots[0]!.datum.state.utxoRoot)).toBe(toHex(await roots.root()))

    // What the merge gave back for the block comes into the wallet with the next.
    const refund = refundAddress(operatorKeys.payment.hash, 0)
    expect(await chain.layer1.utxosAt(refund)).toHaveLength(1)
    await accept(store, transfers(1, 3))
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed' })
    await chain.mine(50)
    const [collected] = await chain.layer1.utxosAt(refund)
    expect(await sequencer.run('merge')).toMatchObject({ kind: 'merged' })
    const [left, ...others] = await chain.layer1.utxosAt(refund)
    expect(others).toEqual([])
    expect(left!.reference).not.toEqual(collected!.reference)
  })
})

test.concurrent('blocks are chained on their way, and stop when so many are', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
    autoCommit: true,
    maxUnconfirmed: 3,
    maxBlockTransactions: 2,
    operationTimeoutMs: 3000,
  })
  await sequencer.run('init')
  await stop()
  await chain.nextTurn()
  const sent = transfers(7)
  await accept(store, sent)
  const states = async () => (await store.blocks.range(1n, 9n)).map(({ state }) => state)
  await until(async () => (await states()).join() === 'submitted,submitted,submitted')
  expect(await store.blocks.waiting(10)).toBe(1)
  expect(chain.devnet.mempool()).toHaveLength(3)
  // Full blocks leave no gap, and the transactions stay found.
  for (const { id, cbor } of sent) expect(await store.transaction(Buffer.from(id, 'hex'))).toEqual(cbor)

  await chain.mine()
  await until(async () => (await states()).join() === 'committed,committed,committed,submitted')
  await chain.mine()
  await until(async () => (await states()).at(-1) === 'committed')
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('a block lies within one turn of its operator, and waits for the next where little is left', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const { sequencer } = await openRollup(context, store, chain.layer1, { blockValidityMs: 15_000 })
  await sequencer.run('init')
  await stop()
  const { turnLength } = contracts.parameters
  const now = () => slotToTime(chain.devnet.slots, chain.devnet.currentSlot())
  const left = () => endOfTurn(now(), turnLength) - now()
  const commitOne = async (place: number) => {
    await accept(store, transfers(1, place))
    const commit = sequencer.run('commit')
    await until(async () => chain.devnet.mempool().length === 1)
    await chain.mine()
    expect(await commit).toMatchObject({ kind: 'committed' })
    return (await store.blocks.newest())!.endTime
  }

  while (left() !== 12_000n) await chain.mine()
  const turn = now() / turnLength
  const turnEnd = (turn + 1n) * turnLength
  expect(await commitOne(0), 'room is left for another block').toBeLessThan(turnEnd)
  while (left() !== 5000n) await chain.mine()
  const endTime = await commitOne(1)
  expect(endTime, 'none is left').toBe(turnEnd)

  await accept(store, transfers(1, 2))
  const second = sequencer.run('commit')
  await until(async () => sequencer.snapshot().doing === 'commit')
  while (now() / turnLength === turn) {
    expect(chain.devnet.mempool()).toHaveLength(0)
    await chain.mine()
  }
  await until(async () => chain.devnet.mempool().length === 1)
  await chain.mine()
  expect(await second).toMatchObject({ kind: 'committed' })
  expect((await store.blocks.newest())!.startTime).toBe(endTime)
})
