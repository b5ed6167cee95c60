import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { dump } from '../test/dump.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'
import type { DropReason, OrderedTransaction } from './types.js'

const [alice, bob, carol] = [walletOf('alice'), walletOf('bob'), walletOf('carol')]
const genesis = [entry(outputOf('genesis', 0), alice), entry(outputOf('genesis', 1), bob)]
const parent = transaction('parent', [outputOf('genesis', 0)], [alice, carol])
const child = transaction('child', [outputOf('parent', 0)], [carol])
const grandchild = transaction('grandchild', [outputOf('child', 0), outputOf('parent', 1)], [bob])
const other = transaction('other', [outputOf('genesis', 1)], [alice])
const late: DropReason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late', details: { slot: '9' } }
const orphaned: DropReason = { code: 'BadInputsUTxO', message: 'Orphaned', details: {} }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const family = new Set([child, grandchild].map(({ id }) => hex(id)))

const follow = ({ id }: OrderedTransaction, dropped: ReadonlyMap<string, DropReason>) =>
  dropped.has(hex(parent.id)) && family.has(hex(id)) ? orphaned : undefined
const only = (name: string) => new Map([[hex(idOf(name)), late]])

describeBackends('dropping from the mempool', (backend) => {
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
