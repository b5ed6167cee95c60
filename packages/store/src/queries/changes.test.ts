import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DropReason, OrderedTransaction } from '../blocks/types.js'
import type { Lease } from '../leases/types.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'

const alice = walletOf('alice')
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
    const all = [name, ...after].map((each) => [Buffer.from(idOf(each)).toString('hex'), late] as const)
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
