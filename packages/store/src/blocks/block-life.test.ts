import type { BlockState } from '@ratatosk/ports'
import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import {
  buildBlock,
  bytes,
  entry,
  headerHashOf,
  idOf,
  newBlock,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { Block, NewBlock } from './types.js'

const alice = walletOf('alice')
const everything = { limit: 100, offset: 0 }

describeBackends('changing blocks', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease
  let chain: readonly AppliedTransaction[]

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    await store.applyGenesis([entry(outputOf('genesis'), alice)])
    lease = await takeLease(store)
    chain = Array.from({ length: 6 }, (_, n) =>
      transaction(`${n}`, [n === 0 ? outputOf('genesis') : outputOf(`${n - 1}`)], [alice]),
    )
    await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
  })

  afterEach(() => test.drop())

  const cborOf = (from: number, to: number) => chain.slice(from, to).map(({ cbor }) => cbor)
  const waiting = async () => (await store.blocks.oldest(100)).map(({ cbor }) => cbor)

  it('builds a block of the oldest transactions, which leave the mempool', async () => {
    const planned = await newBlock(store, 'one', 4)
    const one = await store.blocks.build(planned, lease)
    expect(one).toEqual({ ...planned, height: 1n, state: 'built', builtAt: expect.any(Date) })
    expect(await store.blocks.newest()).toEqual(one)
    expect((await store.blocks.transactionsOf(one.headerHash)).map(({ cbor }) => cbor)).toEqual(cborOf(0, 4))
    expect(await waiting()).toEqual(cborOf(4, 6))

    const two = await buildBlock(store, lease, 'two', 100)
    expect(two).toMatchObject({ height: 2n, previousHeaderHash: one.headerHash, transactions: 2 })
    expect(await store.blocks.waiting(10)).toBe(0)
    expect(await collect(store.historyPages(alice.address, everything))).toEqual(cborOf(0, 6))
  })

  it('counts what waits, up to a limit and after a sequence number', async () => {
    await buildBlock(store, lease, 'one', 1)
    const [, second] = await store.blocks.oldest(2)
    expect(await store.blocks.waiting(10)).toBe(5)
    expect(await store.blocks.waiting(4)).toBe(4)
    expect(await store.blocks.waiting(10, second?.sequence)).toBe(3)
    // Transactions in blocks do not count.
    expect(await store.blocks.waiting(10, 0n)).toBe(5)
  })

  it.each<[string, (block: NewBlock) => NewBlock]>([
    ['another previous header hash', (block) => ({ ...block, previousHeaderHash: headerHashOf('other') })],
    ['one transaction too many', (block) => ({ ...block, transactions: block.transactions + 1 })],
    ['one transaction too few', (block) => ({ ...block, transactions: block.transactions - 1 })],
    ['a later first sequence', (block) => ({ ...block, firstSequence: block.firstSequence + 1n })],
    ['a later last sequence', (block) => ({ ...block, lastSequence: block.lastSequence + 1n })],
    ['an earlier last sequence', (block) => ({ ...block, lastSequence: block.lastSequence - 1n })],
    ['the header hash of a block', (block) => ({ ...block, headerHash: block.previousHeaderHash })],
  ])('does not build a block with %s', async (_, alter) => {
    await buildBlock(store, lease, 'one', 1)
    const planned = await newBlock(store, 'two', 3)
    await expect(store.blocks.build(alter(planned), lease)).rejects.toMatchObject({
      code: 'STORE_CONFLICT',
    })
    expect(await store.blocks.counts(10)).toHaveLength(1)
    expect(await waiting()).toEqual(cborOf(1, 6))
    expect(await store.blocks.build(planned, lease)).toMatchObject({ height: 2n })
  })

  it.each<[string, Partial<NewBlock>]>([
    ['no transaction', { transactions: 0 }],
    ['half a transaction', { transactions: 0.5 }],
    ['a header hash of the wrong length', { headerHash: idOf('one') }],
  ])('refuses a block with %s', async (_, flaw) => {
    const planned = { ...(await newBlock(store, 'one', 2)), ...flaw }
    await expect(store.blocks.build(planned, lease)).rejects.toMatchObject({
      code: 'STORE_INVALID_ARGUMENT',
    })
    expect(await store.blocks.newest()).toBeUndefined()
    expect(await waiting()).toEqual(cborOf(0, 6))
  })

  it('builds the first block only without a predecessor', async () => {
    const planned = { ...(await newBlock(store, 'one', 2)), previousHeaderHash: headerHashOf('zero') }
    await expect(store.blocks.build(planned, lease)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
  })

  it('sets the state of many blocks, forwards and backwards', async () => {
    const hashes = [
      (await buildBlock(store, lease, 'one', 2)).headerHash,
      (await buildBlock(store, lease, 'two', 2)).headerHash,
    ]
    const states: Exclude<BlockState, 'removed'>[] = [
      'submitted',
      'committed',
      'mature',
      'merged',
      'committed',
      'built',
    ]
    for (const state of states) {
      await store.blocks.setState(hashes, state, lease)
      expect((await store.blocks.counts(10)).map((count) => count.state)).toEqual([state, state])
      const confirmed = await store.blocks.confirmed()
      if (state === 'merged') expect(confirmed?.mergedAt).toBeInstanceOf(Date)
      else expect(confirmed).toBeUndefined()
      const { committedMs, mergedMs } = await store.blocks.delays()
      expect(committedMs !== undefined).toBe(['committed', 'mature', 'merged'].includes(state))
      expect(mergedMs !== undefined).toBe(state === 'merged')
      if (mergedMs !== undefined) expect(mergedMs).toBeGreaterThanOrEqual(committedMs ?? 0)
    }
    expect(await store.blocks.newest()).not.toHaveProperty('mergedAt')
    expect(await store.blocks.delays()).toEqual({})
    await store.blocks.setState([], 'merged', lease)
    expect(await store.blocks.unmerged()).toHaveLength(2)
  })

  it('keeps the time of the first merge', async () => {
    const { headerHash } = await buildBlock(store, lease, 'one', 2)
    await store.blocks.setState([headerHash, headerHash], 'merged', lease)
    const merged = await store.blocks.confirmed()
    await store.blocks.setState([headerHash], 'merged', lease)
    expect(await store.blocks.confirmed()).toEqual(merged)
  })

  it('sets no state if one of the blocks is unknown or removed', async () => {
    const one = await buildBlock(store, lease, 'one', 2)
    const two = await buildBlock(store, lease, 'two', 2)
    await store.blocks.returnToMempool(2n, lease)
    for (const other of [two.headerHash, headerHashOf('nowhere')]) {
      const setting = store.blocks.setState([one.headerHash, other], 'committed', lease)
      await expect(setting).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      const merge = { id: idOf('merge'), cbor: bytes('merge') }
      await expect(store.blocks.setMergeTransaction(other, merge, lease)).rejects.toMatchObject({
        code: 'STORE_CONFLICT',
      })
    }
    expect(await store.blocks.unmerged()).toEqual([one])
  })

  it('replaces the merge transaction of a block', async () => {
    const one = await buildBlock(store, lease, 'one', 2)
    for (const name of ['merge', 'merge again']) {
      const mergeTransaction = { id: idOf(name), cbor: bytes(name) }
      await store.blocks.setMergeTransaction(one.headerHash, mergeTransaction, lease)
      expect(await store.blocks.byHeight(1n)).toEqual({ ...one, mergeTransaction })
    }
  })

  it('returns the transactions of removed blocks to the mempool as the oldest', async () => {
    const built = await buildAll(['one', 'two', 'three'])
    await store.blocks.setState([built[0]!.headerHash], 'merged', lease)
    const late = transaction('late', [outputOf('5')], [alice])
    await store.withLedger((ledger) => ledger.apply({ transactions: [late] }))
    const unspent = await collect(store.utxoPages(alice.address))

    const removed = await store.blocks.returnToMempool(2n, lease)
    expect(removed).toEqual(built.slice(1).map((block) => ({ ...block, state: 'removed' })))
    expect(await waiting()).toEqual([...cborOf(2, 6), late.cbor])
    expect(await store.blocks.newest()).toMatchObject({ height: 1n, state: 'merged' })
    expect(await store.blocks.byHash(built[2]!.headerHash)).toEqual(removed[1])
    expect(await collect(store.utxoPages(alice.address))).toEqual(unspent)
    expect(await collect(store.historyPages(alice.address, everything))).toEqual([...cborOf(0, 6), late.cbor])

    const again = await buildBlock(store, lease, 'two again', 3)
    expect(again).toMatchObject({ height: 2n, firstSequence: removed[0]!.firstSequence, transactions: 3 })
    expect((await store.blocks.transactionsOf(again.headerHash)).map(({ cbor }) => cbor)).toEqual(
      cborOf(2, 5),
    )
  })

  it('never removes merged blocks', async () => {
    const [one] = await buildAll(['one'])
    await store.blocks.setState([one!.headerHash], 'merged', lease)
    expect(await store.blocks.returnToMempool(1n, lease)).toEqual([])
    expect(await store.blocks.confirmed()).toMatchObject({ height: 1n })
  })

  it('replaces a removed block with the same header hash', async () => {
    const [one] = await buildAll(['one'])
    await store.blocks.returnToMempool(1n, lease)
    const again = await buildBlock(store, lease, 'one', 2)
    expect(again).toEqual({ ...one, builtAt: again.builtAt })
    expect(await store.blocks.byHash(one!.headerHash)).toEqual(again)
  })

  it('revives a removed block with its transactions', async () => {
    const [one, two] = await buildAll(['one', 'two', 'three'])
    await store.blocks.returnToMempool(1n, lease)
    expect(await store.blocks.revive(one!.headerHash, lease)).toEqual({ ...one, state: 'committed' })
    expect(await store.blocks.revive(two!.headerHash, lease)).toEqual({ ...two, state: 'committed' })
    expect((await store.blocks.transactionsOf(two!.headerHash)).map(({ cbor }) => cbor)).toEqual(cborOf(2, 4))
    expect(await waiting()).toEqual(cborOf(4, 6))
  })

  it('does not revive a removed block that no longer fits', async () => {
    const [one, two] = await buildAll(['one', 'two'])
    const refused = async (headerHash: Uint8Array) =>
      expect(store.blocks.revive(headerHash, lease)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    await refused(two!.headerHash)
    await refused(headerHashOf('nowhere'))
    await store.blocks.returnToMempool(1n, lease)
    // Not without the block before it, nor beside another at its height.
    await refused(two!.headerHash)
    await buildBlock(store, lease, 'other', 3)
    await refused(one!.headerHash)
    await refused(two!.headerHash)
    // The transactions before it are the same, but in another block.
    await store.blocks.returnToMempool(1n, lease)
    await buildBlock(store, lease, 'other', 2)
    await refused(two!.headerHash)
    // The block before it is there again, with the same header but with one of its transactions.
    await store.blocks.returnToMempool(1n, lease)
    await buildBlock(store, lease, 'one', 3)
    await refused(two!.headerHash)
    expect(await waiting()).toEqual(cborOf(3, 6))
    expect(await store.blocks.counts(10)).toHaveLength(1)
  })

  it('forgets spent outputs only below the oldest unmerged block', async () => {
    const built = await buildAll(['one', 'two', 'three'])
    const future = new Date(Date.now() + 3_600_000)
    const kept = async () => {
      const [row] = await test.database.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM ${test.schema}.spent_outputs`,
      )
      return row?.count
    }
    expect(await store.blocks.forgetSpent(future, lease)).toBe(0)
    await store.blocks.setState([built[1]!.headerHash], 'merged', lease)
    expect(await store.blocks.forgetSpent(future, lease)).toBe(0)
    await store.blocks.setState([built[0]!.headerHash], 'merged', lease)
    expect(await store.blocks.forgetSpent(new Date(0), lease)).toBe(0)
    expect(await kept()).toBe(6)
    expect(await store.blocks.forgetSpent(future, lease)).toBe(4)
    expect(await store.blocks.forgetSpent(future, lease)).toBe(0)
    expect(await kept()).toBe(2)
  })

  /** Blocks of two transactions each. */
  async function buildAll(names: readonly string[]): Promise<Block[]> {
    const built: Block[] = []
    for (const name of names) built.push(await buildBlock(store, lease, name, 2))
    return built
  }
})
