import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import {
  buildBlock,
  entry,
  headerHashOf,
  idOf,
  newRejection,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'

const alice = walletOf('alice')
const names = ['a', 'b', 'c', 'd', 'e']

describeBackends('the explorer', (backend) => {
  let test: TestStore
  let lease: Lease

  /** Two blocks, of a and b and of c, and a mempool of d and e. */
  beforeEach(async () => {
    test = await backend.create()
    lease = await takeLease(test.store)
    await test.store.applyGenesis([entry(outputOf('genesis'), alice)])
    for (const [index, name] of names.entries()) {
      const from = names[index - 1] ?? 'genesis'
      await test.store.withLedger((ledger) =>
        ledger.apply({ transactions: [transaction(name, [outputOf(from)], [alice])] }),
      )
    }
    await buildBlock(test.store, lease, 'one', 2)
    await buildBlock(test.store, lease, 'two', 1)
  })

  afterEach(() => test.drop())

  /** Sets a block's times, in seconds after an hour ago. */
  const at = (second: number) => new Date(hourAgo + second * 1000).toISOString()
  const hourAgo = Date.now() - 3_600_000

  it('lists blocks from the newest down, with the times of their states', async () => {
    const { explorer, blocks } = test.store
    await blocks.setState([headerHashOf('one')], 'merged', lease)
    const [two, one, ...others] = await explorer.blocks({ limit: 10 })
    expect(others).toEqual([])
    expect(two).toMatchObject({
      height: 2n,
      state: 'built',
      transactions: 1,
      commitTransactionId: idOf('commit two'),
      mergeTransactionId: null,
      builtAt: expect.any(Date),
      submittedAt: null,
      committedAt: null,
      mergedAt: null,
      removedAt: null,
    })
    expect(one).toMatchObject({ height: 1n, state: 'merged', mergedAt: expect.any(Date) })
    expect(await explorer.blocks({ limit: 1 })).toEqual([two])
    expect(await explorer.blocks({ limit: 10, before: 2n })).toEqual([one])
    expect(await explorer.block(2n)).toEqual(two)
    expect(await explorer.block(headerHashOf('two'))).toEqual(two)
    await blocks.returnToMempool(2n, lease)
    expect(await explorer.blocks({ limit: 10 })).toEqual([one])
    expect(await explorer.block(2n)).toBeUndefined()
    expect(await explorer.block(headerHashOf('two'))).toMatchObject({
      state: 'removed',
      removedAt: expect.any(Date),
    })
  })

  it('sums blocks by state within a range of heights', async () => {
    const { explorer, blocks } = test.store
    await blocks.setState([headerHashOf('one')], 'committed', lease)
    const committed = { state: 'committed', blocks: 1, transactions: 2 }
    const built = { state: 'built', blocks: 1, transactions: 1 }
    expect(new Set(await explorer.totals(0n, 9n))).toEqual(new Set([committed, built]))
    expect(await explorer.totals(0n, 1n)).toEqual([committed])
    expect(await explorer.totals(1n, 9n)).toEqual([built])
  })

  it('counts acceptances by minute, in blocks and in the mempool, a limited number at a time', async () => {
    const { explorer, events } = test.store
    const { accepted: head } = await events.head()
    // The genesis output took a number too.
    const first = head - 5n
    for (const [table, id, second] of [
      ['block_transactions', 'a', 10],
      ['block_transactions', 'b', 11],
      ['block_transactions', 'c', 70],
      ['mempool_transactions', 'd', 71],
      ['mempool_transactions', 'e', 130],
    ] as const) {
      const minute = new Date(Math.floor(hourAgo / 60_000) * 60_000 + second * 1000)
      await test.database.query(
        `UPDATE ${test.schema}.${table} SET accepted_at = $1::timestamptz WHERE transaction_id = $2`,
        [minute.toISOString(), idOf(id)],
      )
    }
    const counts = async (after: bigint, to: bigint, limit: number) => {
      const { minutes, last } = await explorer.accepted(after, to, limit)
      return { counts: minutes.map(({ transactions }) => transactions), last }
    }
    expect(await counts(first, head, 100)).toEqual({ counts: [2, 2, 1], last: head })
    expect(await counts(first, head, 3)).toEqual({ counts: [2, 1], last: head - 2n })
    expect(await counts(head - 2n, head - 1n, 100)).toEqual({ counts: [1], last: head - 1n })
    expect(await counts(head, head, 100)).toEqual({ counts: [], last: undefined })
    expect(await explorer.acceptedBefore(head, 2)).toBe(head - 2n)
    expect(await explorer.acceptedBefore(head - 1n, 3)).toBe(head - 4n)
    for (const count of [5, 9]) expect(await explorer.acceptedBefore(head, count)).toBe(0n)
  })

  it('counts rejected submissions, also several of the same bytes', async () => {
    const { explorer, events, rejections } = test.store
    expect(await explorer.rejected(0n, 9n, 100)).toEqual({ minutes: [], last: undefined })
    const { cbor } = newRejection('first')
    await rejections.add([newRejection('first'), newRejection('second', { cbor }), newRejection('third')])
    const { rejected: head } = await events.head()
    const { minutes, last } = await explorer.rejected(0n, head, 100)
    expect(minutes.reduce((sum, { transactions }) => sum + transactions, 0)).toBe(3)
    expect(last).toBe(head)
  })

  it('measures how long transactions took, of whole blocks and since a time', async () => {
    const { explorer, blocks } = test.store
    const since = new Date(hourAgo)
    expect(await explorer.delay('committed', since, 100)).toBeUndefined()
    expect(await explorer.moved('committed', since)).toEqual([])
    await blocks.setState([headerHashOf('one'), headerHashOf('two')], 'merged', lease)
    const setBlock = (name: string, committed: number, merged: number) =>
      test.database.query(
        `UPDATE ${test.schema}.blocks SET committed_at = $1::timestamptz, merged_at = $2::timestamptz
        WHERE header_hash = $3`,
        [at(committed), at(merged), headerHashOf(name)],
      )
    await setBlock('one', 100, 130)
    await setBlock('two', 200, 250)
    for (const [name, second] of [
      ['a', 90],
      ['b', 99],
      ['c', 197],
    ] as const)
      await test.database.query(
        `UPDATE ${test.schema}.block_transactions SET accepted_at = $1::timestamptz
        WHERE transaction_id = $2`,
        [at(second), idOf(name)],
      )
    // 1, 3 and 10 s; 30, 30 and 50 s.
    expect(await explorer.delay('committed', since, 100)).toEqual({ p50: 3000, p95: 10_000, transactions: 3 })
    expect(await explorer.delay('merged', since, 100)).toEqual({ p50: 30_000, p95: 50_000, transactions: 3 })
    expect(await explorer.delay('committed', since, 1)).toEqual({ p50: 3000, p95: 3000, transactions: 1 })
    expect(await explorer.delay('committed', new Date(at(150)), 100)).toMatchObject({ transactions: 1 })
    // 30 days are more milliseconds than an integer of 32 bits has.
    await setBlock('two', 200, 30 * 86_400)
    expect(await explorer.delay('merged', since, 1)).toMatchObject({ p50: (30 * 86_400 - 200) * 1000 })
    await setBlock('two', 200, 250)
    const moved = await explorer.moved('committed', since)
    expect(moved.map(({ transactions }) => transactions)).toEqual([2, 1])
    const [first] = await explorer.moved('merged', new Date(at(200)))
    expect(first).toEqual({
      minute: new Date(Math.floor(Date.parse(at(250)) / 60_000) * 60_000),
      transactions: 1,
    })
  })
})
