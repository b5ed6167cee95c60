import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, headerHashOf, takeLease } from '../test/blocks.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')

describeBackends('the chain', (backend) => {
  let test: TestStore
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    lease = await takeLease(test.store)
    await test.store.applyGenesis([entry(outputOf('genesis'), alice)])
    let source = 'genesis'
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const from = source
      source = name
      await test.store.withLedger((ledger) =>
        ledger.apply({ transactions: [transaction(name, [outputOf(from)], [alice])] }),
      )
    }
    await buildBlock(test.store, lease, 'one', 2)
    await buildBlock(test.store, lease, 'two', 1)
  })

  afterEach(() => test.drop())

  it('has a newest block, in any state or in some', async () => {
    const { blocks } = test.store
    await blocks.setState([headerHashOf('one')], 'committed', lease)
    expect(await blocks.newest()).toMatchObject({
      height: 2n,
      headerHash: headerHashOf('two'),
      transactions: 1,
    })
    expect(await blocks.newest(['committed', 'merged'])).toMatchObject({ height: 1n, state: 'committed' })
    expect(await blocks.newest(['merged'])).toBeUndefined()
    expect(await blocks.byHeight(2n)).toEqual(await blocks.byHash(headerHashOf('two')))
    await blocks.returnToMempool(2n, lease)
    expect(await blocks.newest()).toMatchObject({ height: 1n })
    expect(await blocks.byHash(headerHashOf('two'))).toMatchObject({ state: 'removed' })
  })

  it('places transactions in blocks or in none', async () => {
    const { chain } = test.store
    const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((name) => chain.transaction(idOf(name))))
    expect(b?.place).toMatchObject({ block: { height: 1n, headerHash: headerHashOf('one') }, position: 1 })
    expect(c?.place).toMatchObject({ block: { height: 2n }, position: 0 })
    expect(d).toMatchObject({ id: idOf('d') })
    expect(d?.place).toBeUndefined()
    expect(await chain.transaction(idOf('unknown'))).toBeUndefined()
    const some = await chain.transactions(['a', 'd', 'unknown'].map(idOf))
    expect(some.map(({ sequence }) => sequence).sort()).toEqual([a?.sequence, d?.sequence])
    const places = await chain.places([a!.sequence, c!.sequence, d!.sequence, 10_000n])
    expect([...places.keys()].sort()).toEqual([a!.sequence, c!.sequence].sort())
    expect(places.get(c!.sequence)).toEqual(c!.place)
    expect(await chain.places([])).toEqual(new Map())
  })

  it('lists transactions of blocks and after a sequence, from either end', async () => {
    const { blocks, chain } = test.store
    const ids = (transactions: readonly { readonly id: Uint8Array }[]) => transactions.map(({ id }) => id)
    const one = headerHashOf('one')
    expect(ids(await blocks.transactionsOf(one, { offset: 0, limit: 9 }))).toEqual(['a', 'b'].map(idOf))
    expect(ids(await blocks.transactionsOf(one, { offset: 0, limit: 1, newestFirst: true }))).toEqual([
      idOf('b'),
    ])
    const { lastSequence } = (await blocks.byHash(one))!
    const after = (offset: number, limit: number, newestFirst = false) =>
      chain.acceptedAfter(lastSequence, { offset, limit, newestFirst }).then(ids)
    expect(await after(0, 9)).toEqual(['c', 'd', 'e'].map(idOf))
    expect(await after(1, 1)).toEqual([idOf('d')])
    expect(await after(0, 2, true)).toEqual(['e', 'd'].map(idOf))
    const size = transaction('c', [], []).cbor.length
    const sizes = (offset: number, limit: number, newestFirst = false) =>
      chain.sizesAfter(lastSequence, { offset, limit, newestFirst })
    expect(ids(await sizes(0, 9))).toEqual(['c', 'd', 'e'].map(idOf))
    expect(await sizes(1, 1)).toMatchObject([{ id: idOf('d'), bytes: size }])
    expect(ids(await sizes(0, 2, true))).toEqual(['e', 'd'].map(idOf))
    expect(await chain.countAfter(lastSequence, 100)).toEqual({ transactions: 3, bytes: 3 * size })
    expect(await chain.sizeOf(one)).toBe(2 * size)
    expect(await chain.newestSequence()).toBe((await chain.transaction(idOf('e')))?.sequence)
  })
})
