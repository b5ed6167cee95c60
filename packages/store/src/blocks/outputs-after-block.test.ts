import type { OutputReference } from '@ratatosk/ledger'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { entry, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
const count = 12_001

describeBackends('outputs after the newest block', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
  })

  afterEach(() => test.drop())

  async function keys(pieces = store.blocks.utxosAfterNewest()): Promise<string[]> {
    const found: string[] = []
    for await (const piece of pieces) {
      for (const { transactionId, index, output } of piece) {
        expect(output).toEqual(entry({ transactionId, index }, alice).output)
        found.push(key({ transactionId, index }))
      }
    }
    return found.sort()
  }

  it('are empty for an empty ledger', async () => {
    expect(await keys()).toEqual([])
  })

  it('are the genesis until a block is built, whatever the mempool spends', async () => {
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
    const [one, two] = await store.blocks.range(1n, 2n)
    const afterOne = [outputOf('genesis', 1), outputOf('a'), outputOf('b')].map(key).sort()
    expect(await keys(store.blocks.utxosAfter(one!))).toEqual(afterOne)
    expect(await keys(store.blocks.utxosAfter(two!))).toEqual(await keys())
    await store.blocks.returnToMempool(1n, lease)
    expect(await keys()).toEqual(genesis)
  })

  it('are read in pages', async () => {
    const many = Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice))
    await store.applyGenesis(many)
    const pieces: number[] = []
    for await (const piece of store.blocks.utxosAfterNewest()) pieces.push(piece.length)
    expect(pieces).toEqual([5_000, 5_000, 2_001])
    expect(await keys()).toEqual(many.map(({ reference }) => key(reference)).sort())
  })

  it('are refused by a closed store', async () => {
    await store.close()
    await expect(keys()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it.each([0, 1, 2])(
    'stay as they were when the read started, with %d transactions in the mempool',
    async (waiting) => {
      const many = Array.from({ length: count }, (_, index) => entry(outputOf('many', index), alice))
      await store.applyGenesis(many)
      const spend = (name: string, ...indices: number[]) =>
        store.withLedger((ledger) => {
          const spent = indices.map((index) => outputOf('many', index))
          return ledger.apply({ transactions: [transaction(name, spent, [alice])] })
        })
      for (let n = 0; n < waiting; n += 1) await spend(`before ${n}`, 100 + n)
      const seen: string[] = []
      let round = 0
      for await (const piece of store.blocks.utxosAfterNewest()) {
        seen.push(...piece.map(key))
        // All of them are spent after the first piece, some were read before and some will be.
        round += 1
        await spend(`meanwhile ${round}`, round, count - round, 3_000 + round, 6_000 + round, 9_000 + round)
        await buildBlock(store, lease, `block ${round}`, round)
        if (round % 2 === 0) await store.blocks.returnToMempool(1n, lease)
      }
      expect(round).toBeGreaterThan(2)
      expect(seen.sort()).toEqual(many.map(({ reference }) => key(reference)).sort())
    },
  )

  it('are found by their references, whatever the mempool does', async () => {
    const pay = (name: string, spent: OutputReference) => transaction(name, [spent], [alice, alice])
    await store.applyGenesis([0, 5].map((index) => entry(outputOf('genesis', index), alice)))
    const references = [outputOf('genesis', 0), outputOf('genesis', 5), outputOf('1', 0), outputOf('2', 1)]
    const found = async () =>
      (await store.blocks.outputsAfterNewest(references))
        .map(({ reference, output }) => {
          expect(output).toEqual(entry(reference, alice).output)
          return references.findIndex((asked) => key(asked) === key(reference))
        })
        .sort()
    expect(await store.blocks.outputsAfterNewest([])).toEqual([])
    expect(await found()).toEqual([0, 1])
    const transactions = [pay('1', outputOf('genesis', 0)), pay('2', outputOf('1', 0))]
    await store.withLedger((ledger) => ledger.apply({ transactions }))
    expect(await found()).toEqual([0, 1])
    await buildBlock(store, lease, 'one', 1)
    expect(await found()).toEqual([1, 2])
    await buildBlock(store, lease, 'two', 1)
    expect(await found()).toEqual([1, 3])
  })
})

function key({ transactionId, index }: OutputReference): string {
  return `${Buffer.from(transactionId).toString('hex')}#${index}`
}
