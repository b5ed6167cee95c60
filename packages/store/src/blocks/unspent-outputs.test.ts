import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { entry, outputOf, transaction, walletOf } from '../test/transactions.js'
import type { Lease, OutputReference, Store } from '../types.js'

const alice = walletOf('alice')
const count = 12_001

describe.each(backends)('the outputs after the newest block on $name', (backend) => {
  describe.skipIf(backend.missing !== undefined)('are', () => {
    let test: TestStore
    let store: Store
    let lease: Lease

    beforeEach(async () => {
      test = await backend.create()
      store = test.store
      lease = await takeLease(store)
    })

    afterEach(() => test.drop())

    async function keys(): Promise<string[]> {
      const found: string[] = []
      for await (const piece of store.blocks.utxosAfterNewest()) {
        for (const { transactionId, index, output } of piece) {
          expect(output).toEqual(entry({ transactionId, index }, alice).output)
          found.push(key({ transactionId, index }))
        }
      }
      return found.sort()
    }

    it('none of an empty ledger', async () => {
      expect(await keys()).toEqual([])
    })

    it('the genesis, whatever the mempool does, and then what a block has made of it', async () => {
      await store.applyGenesis([entry(outputOf('genesis'), alice), entry(outputOf('genesis', 1), alice)])
      const genesis = [key(outputOf('genesis')), key(outputOf('genesis', 1))]
      expect(await keys()).toEqual(genesis)
      const chain = [
        transaction('a', [outputOf('genesis')], [alice, alice]),
        transaction('b', [outputOf('a', 1)], [alice]),
        transaction('c', [outputOf('b'), outputOf('genesis', 1)], [alice]),
      ]
      // In one batch, so that what b makes never enters the ledger.
      await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
      expect(await keys()).toEqual(genesis)
      await buildBlock(store, lease, 'one', 2)
      expect(await keys()).toEqual([outputOf('genesis', 1), outputOf('a'), outputOf('b')].map(key).sort())
      await buildBlock(store, lease, 'two', 1)
      expect(await keys()).toEqual([outputOf('a'), outputOf('c')].map(key).sort())
      await store.blocks.returnToMempool(1n, lease)
      expect(await keys()).toEqual(genesis)
    })

    it('read in pieces', async () => {
      const many = Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice))
      await store.applyGenesis(many)
      const pieces: number[] = []
      for await (const piece of store.blocks.utxosAfterNewest()) pieces.push(piece.length)
      expect(pieces).toEqual([5_000, 5_000, 2_001])
      expect(await keys()).toEqual(many.map(({ reference }) => key(reference)).sort())
    })

    it('left in the middle without holding up what comes after', async () => {
      await store.applyGenesis(
        Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice)),
      )
      for (let round = 0; round < 6; round += 1) {
        for await (const piece of store.blocks.utxosAfterNewest()) {
          expect(piece).toHaveLength(5_000)
          break
        }
      }
      const failing = (async () => {
        for await (const _ of store.blocks.utxosAfterNewest()) throw new Error('no room')
      })()
      await expect(failing).rejects.toThrow('no room')
      expect(await store.utxosAt(alice.address)).toHaveLength(count)
      await store.close()
    })

    it('refused by a store that is closed', async () => {
      await store.close()
      await expect(keys()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    })

    // PGlite has one connection: there the writers wait.
    it.skipIf(backend.name === 'PGlite')('as they were when the reading began', async () => {
      const many = Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice))
      await store.applyGenesis(many)
      const seen: string[] = []
      for await (const piece of store.blocks.utxosAfterNewest()) {
        if (seen.length === 0) {
          const spend = transaction('spend', [outputOf('many', 0), outputOf('many', count - 1)], [alice])
          await store.withLedger((ledger) => ledger.apply({ transactions: [spend] }))
          await buildBlock(store, lease, 'one', 1)
          await store.blocks.reset(lease)
        }
        seen.push(...piece.map(key))
      }
      expect(seen.sort()).toEqual(many.map(({ reference }) => key(reference)).sort())
      expect(await keys()).toEqual([])
    })

    it.skipIf(backend.name === 'PGlite')('cut off with the connection', async () => {
      await store.applyGenesis(
        Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice)),
      )
      const cut = (async () => {
        for await (const _ of store.blocks.utxosAfterNewest()) {
          await test.database.query(
            `SELECT pg_terminate_backend(pid) FROM pg_locks
            WHERE relation = '${test.schema}.mempool_ledger'::regclass AND pid <> pg_backend_pid()`,
          )
        }
      })()
      await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(await keys()).toHaveLength(count)
    })
  })
})

function key({ transactionId, index }: OutputReference): string {
  return `${Buffer.from(transactionId).toString('hex')}#${index}`
}
