import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AppliedTransaction } from '../ledger/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { takeLease } from '../test/blocks.js'
import { createExaminer, foreignBlock } from '../test/examine.js'
import { countStrays } from '../test/strays.js'
import { entry, outputOf, transaction, walletOf } from '../test/transactions.js'

const [alice, bob] = [walletOf('alice'), walletOf('bob')]
const genesis = Array.from({ length: 8 }, (_, index) => entry(outputOf('genesis', index), bob))

describeBackends('while a block is compared with the mempool', (backend) => {
  let test: TestStore
  let store: Store
  const { learn, examine } = createExaminer()

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    await store.applyGenesis(genesis)
  })

  afterEach(() => test.drop())

  const make = (name: string, spent: readonly [string, number], ...read: readonly [string, number][]) =>
    learn(
      transaction(name, [outputOf(...spent)], [alice, alice]),
      ...read.map(([of, index]) => outputOf(of, index)),
    )
  const apply = (transactions: readonly AppliedTransaction[]) =>
    store.withLedger((ledger) => ledger.apply({ transactions }))
  const cborOf = (transactions: readonly { readonly cbor: Uint8Array }[]) =>
    transactions.map(({ cbor }) => cbor)

  it('what is accepted is compared too', async () => {
    const held = make('held', ['genesis', 0])
    const stays = make('stays', ['genesis', 1])
    const loser = make('loser', ['genesis', 2])
    const unknown = make('unknown', ['genesis', 3])
    const winners = [make('winner', ['genesis', 2]), make('other winner', ['genesis', 5])]
    const child = make('child of what moves', ['held', 0])
    const lost = [
      make('child of the loser', ['loser', 0]),
      make('reader', ['genesis', 4], ['genesis', 5]),
      make('other loser', ['genesis', 5]),
    ]
    const block = [...winners, held, unknown]
    await apply([stays, held, loser])
    let applied: Promise<void> | undefined
    const { known, dropped } = await store.blocks.adopt(
      await foreignBlock(store, 'theirs', block),
      (cbor) => {
        // The only page of the mempool was read. Adoption then waits for this.
        applied ??= apply([unknown, ...lost, child])
        return examine(cbor)
      },
      await takeLease(store),
    )
    await applied
    expect({ known, dropped }).toEqual({ known: 2, dropped: 4 })
    const { headerHash } = (await store.blocks.newest())!
    expect(cborOf(await store.blocks.transactionsOf(headerHash))).toEqual(cborOf(block))
    expect(cborOf(await store.blocks.oldest(9))).toEqual(cborOf([stays, child]))
    const letters = await store.rejections.list()
    expect(new Set(letters.map(({ transactionId }) => transactionId))).toEqual(
      new Set([loser, ...lost].map(({ id }) => id)),
    )
    expect(await countStrays(test)).toBe(0)
  })

  it('other work goes on', async () => {
    const mempool = genesis.map((_, index) => make(`${index}`, ['genesis', index]))
    await apply(mempool)
    let examined = 0
    let examinedBetween: number | undefined
    await store.blocks.adopt(
      await foreignBlock(store, 'theirs', mempool.slice(-1)),
      (cbor) => {
        if (examined++ === 0)
          setImmediate(() => {
            examinedBetween = examined
          })
        for (const start = performance.now(); performance.now() - start < 30; );
        return examine(cbor)
      },
      await takeLease(store),
    )
    expect(examined).toBe(mempool.length - 1)
    expect(examinedBetween).toBeLessThan(examined)
  })
})
