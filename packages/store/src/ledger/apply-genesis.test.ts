import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeBackends, type TestStore } from '../test/backends.js'
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

describeBackends('genesis outputs', (backend) => {
  let test: TestStore

  beforeEach(async () => {
    test = await backend.create()
  })

  afterEach(() => test.drop())

  it('fill an empty ledger once, in the given order', async () => {
    expect(await test.store.applyGenesis(outputs)).toBe(true)
    expect(await test.store.applyGenesis(outputs)).toBe(false)
    expect((await collect(test.store.utxoPages(alice.address))).map(({ reference }) => reference)).toEqual([
      outputOf('a', 1),
      outputOf('b', 7),
      outputOf('a', 0),
    ])
    expect(await collect(test.store.historyPages(alice.address, { limit: 10, offset: 0 }))).toEqual([])
  })

  it('are the same in any order, and after they were spent', async () => {
    await test.store.applyGenesis(outputs)
    const spend = transaction('spend', [outputOf('a'), outputOf('b', 7)], [bob])
    await test.store.withLedger((ledger) => ledger.apply({ transactions: [spend] }))
    expect(await test.store.applyGenesis(outputs.toReversed())).toBe(false)
    expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(1)
  })

  it.each([
    ['one output less', outputs.slice(1)],
    ['one output more', [...outputs, entry(outputOf('c'), bob)]],
    ['a changed output', outputs.with(0, { ...outputs[0]!, output: Uint8Array.of(1) })],
    ['a changed address', outputs.with(0, { ...outputs[0]!, address: bob.address })],
    ['no output', []],
  ])('refuse %s', async (_, others) => {
    await test.store.applyGenesis(outputs)
    await expect(test.store.applyGenesis(others)).rejects.toMatchObject({
      code: 'STORE_GENESIS_MISMATCH',
      retryable: false,
    })
    expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(3)
  })

  it('may be empty, which also excludes others', async () => {
    expect(await test.store.applyGenesis([])).toBe(true)
    expect(await test.store.applyGenesis([])).toBe(false)
    await expect(test.store.applyGenesis(outputs)).rejects.toMatchObject({ code: 'STORE_GENESIS_MISMATCH' })
  })

  it('are refused by a ledger that was started without them', async () => {
    const mint = transaction('mint', [], [alice])
    await test.store.withLedger((ledger) => ledger.apply({ transactions: [mint] }))
    await expect(test.store.applyGenesis(outputs)).rejects.toMatchObject({ code: 'STORE_GENESIS_MISMATCH' })
  })

  it('are applied by one of many stores that start together', async () => {
    const stores = [test.store, await test.another(), await test.another()]
    const applied = await Promise.all(stores.map((store) => store.applyGenesis(outputs)))
    expect(applied.toSorted()).toEqual([false, false, true])
    expect(await collect(test.store.utxoPages(alice.address))).toHaveLength(3)
  })

  it('may be more than one statement inserts', async () => {
    const many = Array.from({ length: 12_001 }, (_, index) => entry(outputOf('many', index), alice))
    await test.store.applyGenesis(many)
    const references = (await collect(test.store.utxoPages(alice.address))).map(
      ({ reference }) => reference.index,
    )
    expect(references).toEqual(many.map((_, index) => index))
  })
})
