import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { dump } from '../test/dump.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
const genesis = [entry(outputOf('genesis'), alice)]
const first = transaction('first', [outputOf('genesis')], [alice])
const second = transaction('second', [outputOf('first')], [alice])

describeBackends('reset', (backend) => {
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
    const block = { headerHash: new Uint8Array(28), header: idOf('header'), body: idOf('body'), merged: true }
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
