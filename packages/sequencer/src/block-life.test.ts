import { toHex } from '@ratatosk/cbor'
import { endOfTurn } from '@ratatosk/contracts'
import { type OutputReference, slotToTime, type ValidityInterval } from '@ratatosk/ledger'
import { collect, outputsOf, signed } from '@ratatosk/test-kit'
import { testedServices } from '@ratatosk/test-kit/vitest'
import { describe, expect, test } from 'vitest'
import { refundAddress } from './blocks/merge-blocks.js'
import { openRoots, type Roots } from './roots/index.js'
import { expectAgreement, until } from './test/agreement.js'
import {
  accept,
  contracts,
  genesis,
  openChain,
  openers,
  openRollup,
  queueOf,
  transfers,
  user,
} from './test/rollup.js'
import { operatorKeys } from './test/rollup-contracts.js'

describe.concurrent.each(testedServices(openers))('%s', (_, open) => {
  test('commits the mempool in a block and merges it into the confirmed state', async (context) => {
    const { store } = await open(context)
    const chain = await openChain(context)
    const stop = chain.keepMining()
    context.onTestFinished(stop)
    const { sequencer, roots } = await openRollup(context, store, chain.layer1)
    expect(await sequencer.run('commit')).toMatchObject({
      kind: 'refused',
      code: 'SEQUENCER_NOT_INITIALISED',
    })
    expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
    expect(await sequencer.run('init')).toMatchObject({ kind: 'root-exists', count: 1 })
    expect(await sequencer.run('commit')).toEqual({ kind: 'nothing-to-commit' })
    const sent = transfers(3)
    await accept(store, sent)
    const before = await collect(store.historyPages(user.address, { limit: 100, offset: 0 }))
    expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 3 })
    const [block] = (await queueOf(chain.layer1)).blocks
    const headerHash = toHex(block!.headerHash)
    expect(toHex((await store.blocks.newest())!.headerHash)).toBe(headerHash)
    expect(await sequencer.run('merge')).toEqual({ kind: 'nothing-to-merge' })
    await chain.mine(50)
    expect(await sequencer.run('merge')).toMatchObject({
      kind: 'merged',
      headerHash,
    })
    expect(await collect(store.historyPages(user.address, { limit: 100, offset: 0 }))).toEqual(before)
    const queue = await queueOf(chain.layer1)
    expect(queue.blocks).toEqual([])
    expect(toHex(queue.roots[0]!.datum.state.utxoRoot)).toBe(toHex(await roots.root()))

    // The next merge collects the refund of this one.
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

test.concurrent('chains unconfirmed blocks, and waits at the maximum number of them', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  const { sequencer, roots } = await openRollup(context, store, chain.layer1, {
    autoCommit: true,
    maxUnconfirmed: 3,
    maxBlockTransactions: 2,
    // Time stands still, and all blocks end within the turn.
    blockValidityMs: 25_000,
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
  // Full blocks follow each other, and every transaction can still be found.
  for (const { id, cbor } of sent) expect(await store.transaction(Buffer.from(id, 'hex'))).toEqual(cbor)

  await chain.mine()
  await until(async () => (await states()).join() === 'committed,committed,committed,submitted')
  await chain.mine()
  await until(async () => (await states()).at(-1) === 'committed')
  await expectAgreement(store, chain.layer1, roots, sent)
})

test.concurrent('commits each block within one turn, and waits near its end', async (context) => {
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

  await chain.mineUntil(() => left() === 12_000n)
  const turn = now() / turnLength
  const turnEnd = (turn + 1n) * turnLength
  expect(await commitOne(0), 'leaves time for another block').toBeLessThan(turnEnd)
  await chain.mineUntil(() => left() === 5000n)
  const endTime = await commitOne(1)
  expect(endTime, 'ends with the turn').toBe(turnEnd)

  await accept(store, transfers(1, 2))
  const second = sequencer.run('commit')
  await until(async () => sequencer.snapshot().activity === 'commit')
  await chain.mineUntil(() => {
    const isNextTurn = now() / turnLength !== turn
    if (!isNextTurn) expect(chain.devnet.mempool()).toHaveLength(0)
    return isNextTurn
  })
  await until(async () => chain.devnet.mempool().length === 1)
  await chain.mine()
  expect(await second).toMatchObject({ kind: 'committed' })
  expect((await store.blocks.newest())!.startTime).toBe(endTime)
})

test.concurrent('drops the expired with their descendants, and keeps the not yet valid', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const { sequencer, roots } = await openRollup(context, store, chain.layer1)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const now = await chain.layer1.currentSlot({})
  const [a, b, c, d] = genesis.map(({ reference }) => reference)
  const pay = (input: OutputReference, interval: ValidityInterval = {}) =>
    signed(user, { inputs: [input], outputs: [10_000_000n], ...interval })
  // Each ended before the first block begins, which is when the queue began.
  const expired = pay(a!, { invalidHereafter: now - 100n })
  const child = pay(outputsOf(expired))
  const fine = pay(b!, { invalidBefore: now - 100n, invalidHereafter: now + 1_000_000n })
  const early = pay(c!, { invalidBefore: now + 1_000_000n })
  const after = pay(d!)
  const before = await collect(store.utxoPages(user.address))
  await accept(store, [expired, fine, child, early, after])
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 1 })

  const [block] = await store.blocks.range(1n, 9n)
  expect((await store.blocks.transactionsOf(block!.headerHash)).map(({ cbor }) => cbor)).toEqual([fine.cbor])
  expect((await store.blocks.oldest(9)).map(({ cbor }) => cbor)).toEqual([early.cbor, after.cbor])
  await expectAgreement(store, chain.layer1, roots, [fine, early, after])
  // The output that the expired one spent is back; its own are gone.
  const left = await collect(store.utxoPages(user.address))
  expect(left).toHaveLength(before.length)
  expect(left).toContainEqual(before[0])
  for (const [{ id }, code] of [
    [expired, 'OutsideValidityIntervalUTxO'],
    [child, 'BadInputsUTxO'],
  ] as const)
    expect(await store.rejections.findTransaction(Buffer.from(id, 'hex'))).toMatchObject({ code })
})

test.concurrent('prepares a block while it fills up, without what has to wait', async (context) => {
  const { store } = await openers['PostgreSQL and Redis'](context)
  const chain = await openChain(context)
  const stop = chain.keepMining()
  context.onTestFinished(stop)
  const roots = await openRoots()
  const prepared: number[] = []
  const spied: Roots = {
    ...roots,
    async prepare(...asked) {
      prepared.push(await roots.prepare(...asked))
      return prepared.at(-1)!
    },
  }
  const options = { roots: spied, prepareAtTransactions: 2, maxBlockTransactions: 7 }
  const { sequencer } = await openRollup(context, store, chain.layer1, options)
  expect(await sequencer.run('init')).toMatchObject({ kind: 'initiated' })
  const preparedUpTo = (count: number) => until(async () => prepared.at(-1) === count)

  const [first, second] = [transfers(5), transfers(3, 5)]
  await accept(store, first.slice(0, 3))
  await preparedUpTo(3)
  await accept(store, first.slice(3))
  await preparedUpTo(5)
  await accept(store, second)
  await preparedUpTo(7)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 7 })
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 1 })

  const now = await chain.layer1.currentSlot({})
  const pay = (place: number, interval: ValidityInterval = {}) =>
    signed(user, { inputs: [genesis[place]!.reference], outputs: [10_000_000n], ...interval })
  const expired = pay(10, { invalidHereafter: now - 100n })
  const fine = [pay(11), pay(12)]
  const early = pay(13, { invalidBefore: now + 1_000_000n })
  prepared.length = 0
  await accept(store, [expired, ...fine, early])
  await preparedUpTo(4)
  expect(await sequencer.run('commit')).toMatchObject({ kind: 'committed', transactions: 2 })
  await expectAgreement(store, chain.layer1, roots, [...first, ...second, ...fine, early])
})
