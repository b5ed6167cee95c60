import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { dump } from '../test/inspect.js'
import {
  buildBlock,
  entry,
  headerHashOf,
  hex,
  idOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { DropReason, OrderedTransaction } from './types.js'

const [alice, bob, carol] = [walletOf('alice'), walletOf('bob'), walletOf('carol')]
const genesis = [entry(outputOf('genesis', 0), alice), entry(outputOf('genesis', 1), bob)]
/** Each spends the first output of the one before. */
const chainOf = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    transaction(`${n}`, [n === 0 ? outputOf('genesis') : outputOf(`${n - 1}`)], [alice, bob]),
  )

describeBackends('undoing blocks', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    await store.applyGenesis(genesis)
  })

  afterEach(() => test.drop())

  const apply = (...transactions: readonly AppliedTransaction[]) =>
    store.withLedger((ledger) => ledger.apply({ transactions }))
  const ledger = async () => {
    const { blocks, resubmissions, ...tables } = await dump(test)
    return tables
  }
  const waiting = async () => (await store.resubmissions.waiting(100_000)).map(({ cbor }) => cbor)

  it('leaves the tables of the ledger as they were before the blocks, row for row', async () => {
    const chain = chainOf(9)
    await apply(...chain.slice(0, 3))
    const one = await buildBlock(store, lease, 'one', 3)
    await store.blocks.setState([one.headerHash], 'committed', lease)
    const before = await ledger()
    await apply(...chain.slice(3, 5))
    await buildBlock(store, lease, 'two', 2)
    await apply(...chain.slice(5, 8), transaction('other', [outputOf('genesis', 1), outputOf('0', 1)], [bob]))
    await buildBlock(store, lease, 'three', 2)
    await apply(...chain.slice(8))

    const undone = await store.blocks.undo(2n, lease)
    expect(undone).toMatchObject({
      blocks: [
        { height: 2n, state: 'removed' },
        { height: 3n, state: 'removed' },
      ],
      transactions: 7,
    })
    expect(await ledger()).toEqual(before)
    expect(await store.blocks.newest()).toMatchObject({ headerHash: one.headerHash, state: 'committed' })
    expect(await waiting()).toEqual(
      [...chain.slice(3, 8), transaction('other', [], []), ...chain.slice(8)].map(({ cbor }) => cbor),
    )
    expect(await store.transaction(chain[4]!.id)).toBeUndefined()
    expect((await store.changes.dropped(0n, 9)).map(({ transaction }) => transaction?.id)).toEqual([
      ...chain.slice(3, 8).map(({ id }) => id),
      idOf('other'),
      chain[8]!.id,
    ])
    expect(await store.blocks.undo(2n, lease)).toEqual({ blocks: [], transactions: 0 })
    // Undone transactions can be accepted again.
    await apply(...chain.slice(3))
    expect(await buildBlock(store, lease, 'two again', 100)).toMatchObject({ height: 2n, transactions: 6 })
  })

  it('takes more transactions out than one statement does', async () => {
    const before = await ledger()
    const chain = chainOf(6_000)
    await apply(...chain.slice(0, 5_500))
    await buildBlock(store, lease, 'one', 5_400)
    await apply(...chain.slice(5_500))
    expect(await store.blocks.undo(1n, lease)).toMatchObject({ transactions: 6_000 })
    expect(await ledger()).toEqual(before)
    expect(await waiting()).toEqual(chain.map(({ cbor }) => cbor))
  })

  it('undoes what was accepted again after an earlier removal', async () => {
    const chain = chainOf(4)
    const before = await ledger()
    await apply(chain[0]!)
    await buildBlock(store, lease, 'one', 1)
    const between = await ledger()
    await apply(...chain.slice(1))
    await buildBlock(store, lease, 'two', 2)
    await store.blocks.undo(2n, lease)
    expect(await ledger()).toEqual(between)
    await apply(...chain.slice(1))
    await buildBlock(store, lease, 'two again', 1)
    expect(await store.blocks.undo(1n, lease)).toMatchObject({ blocks: [{}, {}], transactions: 4 })
    expect(await ledger()).toEqual(before)
  })

  it('does not touch merged blocks, and needs the lease', async () => {
    await apply(...chainOf(2))
    const one = await buildBlock(store, lease, 'one', 1)
    await store.blocks.setState([one.headerHash], 'merged', lease)
    const before = await dump(test)
    expect(await store.blocks.undo(1n, lease)).toEqual({ blocks: [], transactions: 0 })
    await store.leases.release(lease)
    await expect(store.blocks.undo(1n, lease)).rejects.toMatchObject({ code: 'STORE_LEASE_LOST' })
    expect(await dump(test)).toEqual(before)
  })

  it('says when and with which block a transaction was removed, until that is forgotten', async () => {
    const [first, second, third] = chainOf(3) as [AppliedTransaction, AppliedTransaction, AppliedTransaction]
    await apply(first, second, third)
    const one = await buildBlock(store, lease, 'one', 2)
    await store.blocks.undo(1n, lease)
    const [waitingFirst, waitingSecond] = await store.resubmissions.waiting(2)
    expect(waitingFirst).toMatchObject({ id: first.id, cbor: first.cbor })
    const requeued = { sequence: waitingFirst!.sequence, submissionId: '7' }
    await store.resubmissions.queued([requeued, { sequence: 10_000n, submissionId: '8' }])
    await store.resubmissions.queued([{ ...requeued, submissionId: '9' }])
    expect((await store.resubmissions.waiting(9)).map(({ id }) => id)).toEqual([second.id, third.id])

    const block = { headerHash: one.headerHash, height: 1n }
    const removedAt = expect.any(Date)
    const { ofTransaction } = store.resubmissions
    expect(await ofTransaction(first.id)).toEqual([{ block, removedAt, submissionId: '7' }])
    expect(await ofTransaction(second.id)).toEqual([{ block, removedAt }])
    expect(await ofTransaction(third.id)).toEqual([{ removedAt }])
    expect(await ofTransaction(idOf('nowhere'))).toEqual([])

    await apply(first)
    await buildBlock(store, lease, 'again', 1)
    await store.blocks.undo(1n, lease)
    expect(await ofTransaction(first.id)).toEqual([
      { block: { ...block, headerHash: headerHashOf('again') }, removedAt },
      { block, removedAt, submissionId: '7' },
    ])
    expect(await store.resubmissions.forget(new Date(0))).toBe(0)
    // Waiting resubmissions are never forgotten.
    expect(await store.resubmissions.forget(new Date(Date.now() + 3_600_000))).toBe(1)
    expect(await store.resubmissions.waiting(9)).toHaveLength(3)
    await store.resubmissions.queued([{ sequence: waitingSecond!.sequence, submissionId: '10' }])
    await store.blocks.reset(lease)
    expect(await ofTransaction(second.id)).toEqual([])
  })
})

describeBackends('dropping from the mempool', (backend) => {
  const parent = transaction('parent', [outputOf('genesis', 0)], [alice, carol])
  const child = transaction('child', [outputOf('parent', 0)], [carol])
  const grandchild = transaction('grandchild', [outputOf('child', 0), outputOf('parent', 1)], [bob])
  const other = transaction('other', [outputOf('genesis', 1)], [alice])
  const late: DropReason = {
    code: 'OutsideValidityIntervalUTxO',
    message: 'Too late',
    details: { slot: '9' },
  }
  const orphaned: DropReason = { code: 'BadInputsUTxO', message: 'Orphaned', details: {} }
  const family = new Set([child, grandchild].map(({ id }) => hex(id)))

  const follow = ({ id }: OrderedTransaction, dropped: ReadonlyMap<string, DropReason>) =>
    dropped.has(hex(parent.id)) && family.has(hex(id)) ? orphaned : undefined
  const only = (name: string) => new Map([[hex(idOf(name)), late]])

  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    await store.applyGenesis(genesis)
  })

  afterEach(() => test.drop())

  const apply = (...transactions: readonly ReturnType<typeof transaction>[]) =>
    store.withLedger((ledger) => ledger.apply({ transactions }))

  it('leaves exactly what was there before the transactions came', async () => {
    const { rejections: _, ...before } = await dump(test)
    await apply(parent, child)
    await apply(grandchild)
    expect(await store.blocks.drop(only('parent'), follow, lease)).toBe(3)
    const { rejections, ...after } = await dump(test)
    expect(after).toEqual(before)
    expect(rejections).toHaveLength(3)
    // Their inputs can be spent again, and they themselves can come again.
    await apply(parent, other)
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(2)
  })

  it('keeps the transactions as dead letters, each with its reason', async () => {
    await apply(parent, other, child)
    expect(await store.blocks.drop(only('parent'), follow, lease)).toBe(2)
    expect(await store.rejections.find(`dropped-${hex(parent.id)}`)).toMatchObject({
      ...late,
      transactionId: parent.id,
      cbor: parent.cbor,
    })
    expect(await store.rejections.find(`dropped-${hex(child.id)}`)).toMatchObject(orphaned)
    expect((await store.blocks.oldest(9)).map(({ cbor }) => cbor)).toEqual([other.cbor])
    expect(await buildBlock(store, lease, 'one', 9)).toMatchObject({ transactions: 1 })
  })

  it('changes nothing if a transaction is not in the mempool, or if a child would stay', async () => {
    await apply(parent, other, child)
    await buildBlock(store, lease, 'one', 1)
    const before = await dump(test)
    await expect(store.blocks.drop(only('parent'), follow, lease)).rejects.toMatchObject({
      code: 'STORE_CONFLICT',
    })
    await store.blocks.returnToMempool(1n, lease)
    await expect(store.blocks.drop(only('parent'), () => undefined, lease)).rejects.toMatchObject({
      code: 'STORE_INVALID_ARGUMENT',
    })
    await buildBlock(store, lease, 'one', 1)
    const { blocks: _, ...rest } = await dump(test)
    const { blocks: __, ...expected } = before
    expect(rest.mempool_ledger).toEqual(expected.mempool_ledger)
    expect(rest.spent_outputs).toEqual(expected.spent_outputs)
    expect(rest.rejections).toEqual([])
  })

  it('needs the lease', async () => {
    await apply(parent)
    const before = await dump(test)
    await store.leases.release(lease)
    await expect(store.blocks.drop(only('parent'), follow, lease)).rejects.toMatchObject({
      code: 'STORE_LEASE_LOST',
    })
    expect(await dump(test)).toEqual(before)
  })
})

describeBackends('reset', (backend) => {
  const genesis = [entry(outputOf('genesis'), alice)]
  const first = transaction('first', [outputOf('genesis')], [alice])
  const second = transaction('second', [outputOf('first')], [alice])

  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    await store.applyGenesis(genesis)
    await store.withLedger(async (ledger) => {
      await ledger.apply({ transactions: [first, second] })
      await ledger.rejections.add([
        {
          submissionId: '1',
          cbor: idOf('1'),
          attempts: 1,
          code: 'FeeTooSmallUTxO',
          message: 'The fee is too small.',
          details: {},
          submittedAt: new Date(),
        },
      ])
    })
    await buildBlock(store, lease, 'one', 1)
  })

  afterEach(() => test.drop())

  it('empties the ledger and keeps the leases and dead letters', async () => {
    await store.blocks.reset(lease)
    const { rejections, ...ledger } = await dump(test)
    for (const [table, rows] of Object.entries(ledger)) expect([table, rows]).toEqual([table, []])
    expect(rejections).toHaveLength(1)
    expect(await store.rejections.find('1')).toBeDefined()
    expect(await store.leases.current('sequencer')).toEqual(lease)
    expect(await store.leases.renew(lease, 3_600_000)).toBeDefined()
  })

  it('empties the archive, also of merged blocks', async () => {
    const block = {
      headerHash: new Uint8Array(28),
      header: idOf('header'),
      body: idOf('body'),
      merged: true,
    }
    await store.archive.put([{ ...block, height: 1n }])
    await store.blocks.reset(lease)
    expect(await store.archive.tip()).toBeUndefined()
    await store.archive.put([{ ...block, height: 1n }])
  })

  it('allows the same or other genesis outputs and transactions afterwards', async () => {
    await store.blocks.reset(lease)
    expect(await store.applyGenesis(genesis)).toBe(true)
    await store.withLedger((ledger) => ledger.apply({ transactions: [first, second] }))
    expect(await buildBlock(store, lease, 'one', 2)).toMatchObject({ height: 1n, transactions: 2 })
    await store.blocks.reset(lease)
    expect(await store.applyGenesis([entry(outputOf('other'), alice)])).toBe(true)
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(1)
  })

  it('runs before or after a batch, never within', async () => {
    const third = transaction('third', [outputOf('second')], [alice])
    let resetting: Promise<void> | undefined
    await store.withLedger(async (ledger) => {
      expect(await ledger.known([second.id])).toEqual([true])
      resetting = (backend.name === 'PGlite' ? store : await test.another()).blocks.reset(lease)
      await ledger.apply({ transactions: [third] })
      expect(await ledger.known([second.id, third.id])).toEqual([true, true])
    })
    await resetting
    expect(await store.transaction(third.id)).toBeUndefined()
    expect(await collect(store.utxoPages(alice.address))).toEqual([])
  })
})
