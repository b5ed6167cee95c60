import { expect, it } from 'vitest'
import { describeBackends } from '../test/backends.js'
import {
  buildBlock,
  entry,
  headerHashOf,
  idOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

const wallet = walletOf('alice')

describeBackends('bodies of blocks that left the ledger', (backend) => {
  it('are kept in block order, each transaction once, until their blocks have ended', async () => {
    const test = await backend.create()
    try {
      const { store, schema, database } = test
      const lease = await takeLease(store)
      await store.applyGenesis(Array.from({ length: 2_500 }, (_, n) => entry(outputOf('genesis', n), wallet)))
      const transactions = Array.from({ length: 2_500 }, (_, n) =>
        transaction(`${n}`, [outputOf('genesis', n)], [wallet]),
      )
      const bodyOf = (start: number, end?: number) => transactions.slice(start, end).map(({ cbor }) => cbor)
      await store.withLedger((ledger) => ledger.apply({ transactions }))
      const one = await buildBlock(store, lease, 'one', 2_001)
      const two = await buildBlock(store, lease, 'two', 1)
      expect(await store.bodies.of(one.headerHash)).toBeUndefined()

      await store.blocks.returnToMempool(1n, lease)
      expect(await store.bodies.of(one.headerHash)).toEqual(bodyOf(0, 2_001))
      expect(await store.bodies.of(two.headerHash)).toEqual(bodyOf(2_001, 2_002))
      expect(await store.bodies.of(headerHashOf('none'))).toBeUndefined()
      expect(await store.bodies.transaction(transactions[7]!.id)).toEqual(transactions[7]!.cbor)
      expect(await store.bodies.transaction(idOf('none'))).toBeUndefined()

      // The same transactions in other blocks, one of which is undone.
      await buildBlock(store, lease, 'three', 1_000)
      const four = await buildBlock(store, lease, 'four', 1_500)
      await store.blocks.undo(2n, lease)
      expect(await store.bodies.of(four.headerHash)).toEqual(bodyOf(1_000))
      const [row] = await database.query<{ kept: number }>(
        `SELECT count(*)::integer AS kept FROM ${schema}.kept_transactions`,
      )
      expect(row?.kept).toBe(2_500)

      // The first and the second left together.
      expect(await store.bodies.forget(two.endTime)).toBe(0)
      expect(await store.bodies.forget(two.endTime + 1n)).toBe(3)
      expect(await store.bodies.of(one.headerHash)).toBeUndefined()
      expect(await store.bodies.transaction(transactions[7]!.id)).toBeUndefined()
    } finally {
      await test.drop()
    }
  })
})
