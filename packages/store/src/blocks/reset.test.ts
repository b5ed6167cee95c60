import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { dump } from '../test/dump.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'
import type { Lease, Store } from '../types.js'

const alice = walletOf('alice')
const genesis = [entry(outputOf('genesis'), alice)]
const first = transaction('first', [outputOf('genesis')], [alice])
const second = transaction('second', [outputOf('first')], [alice])

describe.each(backends)('a reset on $name', (backend) => {
  describe.skipIf(backend.missing !== undefined)('is such that', () => {
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

    it('nothing is left of the ledger, and the leases stay', async () => {
      await store.blocks.reset(lease)
      for (const [table, rows] of Object.entries(await dump(test))) expect([table, rows]).toEqual([table, []])
      expect(await store.leases.current('sequencer')).toEqual(lease)
      expect(await store.leases.renew(lease, 3_600_000)).toBeDefined()
    })

    it('the same genesis and the same transactions are taken again, or others', async () => {
      await store.blocks.reset(lease)
      expect(await store.applyGenesis(genesis)).toBe(true)
      await store.withLedger((ledger) => ledger.apply({ transactions: [first, second] }))
      expect(await buildBlock(store, lease, 'one', 2)).toMatchObject({ height: 1n, transactions: 2 })
      await store.blocks.reset(lease)
      expect(await store.applyGenesis([entry(outputOf('other'), alice)])).toBe(true)
      expect(await store.utxosAt(alice.address)).toHaveLength(1)
    })

    it('it comes before or after a batch, never within', async () => {
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
      expect(await store.utxosAt(alice.address)).toEqual([])
    })
  })
})
