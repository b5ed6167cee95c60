import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DropReason, OrderedTransaction } from '../blocks/types.js'
import type { Lease } from '../leases/leases.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import {
  buildBlock,
  entry,
  headerHashOf,
  hex,
  idOf,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

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

const late: DropReason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late', details: {} }

describeBackends('changes', (backend) => {
  let test: TestStore
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    lease = await takeLease(test.store)
  })

  afterEach(() => test.drop())

  const apply = (name: string, from: string) =>
    test.store.withLedger((ledger) =>
      ledger.apply({ transactions: [transaction(name, [outputOf(from)], [alice])] }),
    )
  const ids = (transactions: readonly OrderedTransaction[]) => transactions.map(({ id }) => id)
  const dropFrom = (name: string, ...after: readonly string[]) => {
    const all = [name, ...after].map((each) => [hex(idOf(each)), late] as const)
    return test.store.blocks.drop(new Map(all), () => undefined, lease)
  }

  it('show transactions once and in order, whatever blocks do', async () => {
    const { changes } = test.store
    expect(await changes.genesisOutputs()).toBeUndefined()
    await test.store.applyGenesis([entry(outputOf('genesis'), alice)])
    expect(await changes.genesisOutputs()).toBe(1)
    await apply('a', 'genesis')
    await apply('b', 'a')
    await apply('c', 'b')
    await buildBlock(test.store, lease, 'block', 2)
    const all = await changes.accepted(0n, 10)
    expect(ids(all)).toEqual(['a', 'b', 'c'].map(idOf))
    expect(ids(await changes.accepted(all[0]!.sequence, 1))).toEqual([idOf('b')])
    await test.store.blocks.returnToMempool(1n, lease)
    expect(await changes.accepted(0n, 10)).toEqual(all)
    expect(await changes.dropped(0n, 10)).toEqual([])
  })

  it('show what was dropped, also if it comes again, and a reset', async () => {
    const { changes } = test.store
    await test.store.applyGenesis([entry(outputOf('genesis'), alice)])
    await apply('a', 'genesis')
    await apply('b', 'a')
    const before = await changes.accepted(0n, 10)
    await dropFrom('a', 'b')
    await apply('a', 'genesis')
    const drops = await changes.dropped(0n, 10)
    expect(drops.map(({ transaction }) => transaction)).toEqual(
      before.map(({ id, sequence }) => ({ id, sequence })),
    )
    expect(await changes.dropped(drops[0]!.number, 10)).toEqual([drops[1]])
    const [again] = await changes.accepted(0n, 10)
    expect(again).toMatchObject({ id: idOf('a') })
    expect(again!.sequence).toBeGreaterThan(before[1]!.sequence)

    await test.store.blocks.reset(lease)
    expect((await changes.dropped(drops[1]!.number, 10)).map(({ transaction }) => transaction)).toEqual([
      undefined,
    ])
    expect(await changes.accepted(0n, 10)).toEqual([])
    expect(await changes.genesisOutputs()).toBeUndefined()
  })

  it('let other parts keep tables of their own in the database', async () => {
    const { database } = test.store
    const schema = `${test.schema}_beside`
    await database.run(`CREATE SCHEMA ${schema}`, [])
    try {
      await database.run(`CREATE TABLE ${schema}.things (id bytea, number bigint)`, [])
      await database.transaction(async (connection) => {
        await connection.run(`INSERT INTO ${schema}.things VALUES ($1, $2)`, [Uint8Array.of(1), 2n])
      })
      const failing = database.transaction(async (connection) => {
        await connection.run(`DELETE FROM ${schema}.things`, [])
        throw new Error('stop')
      })
      await expect(failing).rejects.toThrow('stop')
      expect((await database.run(`SELECT * FROM ${schema}.things`, [])).rows).toEqual([
        { id: Uint8Array.of(1), number: 2n },
      ])
    } finally {
      await database.run(`DROP SCHEMA ${schema} CASCADE`, [])
    }
  })
})
