import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backends, type TestStore } from '../test/backends.js'
import { entry, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
const bob = walletOf('bob')
// Neither in the order of their references nor of their transactions.
const outputs = [
  entry(outputOf('a', 1), alice),
  entry(outputOf('b', 7), alice),
  entry(outputOf('b', 0), bob),
  entry(outputOf('a', 0), alice),
]

describe.each(backends)('genesis on $name', (backend) => {
  describe.skipIf(backend.missing !== undefined)('applied', () => {
    let test: TestStore

    beforeEach(async () => {
      test = await backend.create()
    })

    afterEach(() => test.drop())

    it('fills an empty ledger once, in the order given', async () => {
      expect(await test.store.applyGenesis(outputs)).toBe(true)
      expect(await test.store.applyGenesis(outputs)).toBe(false)
      expect((await test.store.utxosAt(alice.address)).map(({ reference }) => reference)).toEqual([
        outputOf('a', 1),
        outputOf('b', 7),
        outputOf('a', 0),
      ])
      expect(await test.store.history(alice.address, { limit: 10, offset: 0 })).toEqual([])
    })

    it('is the same in any order, and after its outputs were spent', async () => {
      await test.store.applyGenesis(outputs)
      const spend = transaction('spend', [outputOf('a'), outputOf('b', 7)], [bob])
      await test.store.withLedger((ledger) => ledger.apply({ transactions: [spend] }))
      expect(await test.store.applyGenesis(outputs.toReversed())).toBe(false)
      expect(await test.store.utxosAt(alice.address)).toHaveLength(1)
    })

    it.each([
      ['one output less', outputs.slice(1)],
      ['one output more', [...outputs, entry(outputOf('c'), bob)]],
      ['another output', outputs.with(0, { ...outputs[0]!, output: Uint8Array.of(1) })],
      ['another address', outputs.with(0, { ...outputs[0]!, address: bob.address })],
      ['no output', []],
    ])('refuses %s than were applied', async (_, others) => {
      await test.store.applyGenesis(outputs)
      await expect(test.store.applyGenesis(others)).rejects.toMatchObject({
        code: 'STORE_GENESIS_MISMATCH',
        retryable: false,
      })
      expect(await test.store.utxosAt(alice.address)).toHaveLength(3)
    })

    it('may be empty, and is then the one that was applied', async () => {
      expect(await test.store.applyGenesis([])).toBe(true)
      expect(await test.store.applyGenesis([])).toBe(false)
      await expect(test.store.applyGenesis(outputs)).rejects.toMatchObject({ code: 'STORE_GENESIS_MISMATCH' })
    })

    it('is refused by a ledger that began without it', async () => {
      const mint = transaction('mint', [], [alice])
      await test.store.withLedger((ledger) => ledger.apply({ transactions: [mint] }))
      await expect(test.store.applyGenesis(outputs)).rejects.toMatchObject({ code: 'STORE_GENESIS_MISMATCH' })
    })

    it('is applied by one of several stores that start at once', async () => {
      const stores = [test.store, await test.another(), await test.another()]
      const applied = await Promise.all(stores.map((store) => store.applyGenesis(outputs)))
      expect(applied.toSorted()).toEqual([false, false, true])
      expect(await test.store.utxosAt(alice.address)).toHaveLength(3)
    })

    it('takes more outputs than one statement writes', async () => {
      const many = Array.from({ length: 12_001 }, (_, index) => entry(outputOf('many', index), alice))
      await test.store.applyGenesis(many)
      const references = (await test.store.utxosAt(alice.address)).map(({ reference }) => reference.index)
      expect(references).toEqual(many.map((_, index) => index))
    })
  })
})
