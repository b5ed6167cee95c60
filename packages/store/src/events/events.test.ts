import type { EventFilter, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { buildBlock, takeLease } from '../test/blocks.js'
import { readEvents } from '../test/read-events.js'
import { newRejection } from '../test/rejections.js'
import { idOf, outputOf, transaction, walletOf } from '../test/transactions.js'

const start: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }
const alice = walletOf('alice')
const bob = walletOf('bob')

function short(event: LedgerEvent): string {
  if (event.type === 'block') return `${event.height} ${event.state}`
  if (event.type === 'rejected') return `rejected ${event.submissionId}`
  if (event.type === 'verdict') return event.state
  return names.get(Buffer.from(event.transactionId).toString('hex')) ?? '?'
}

const names = new Map(
  ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [Buffer.from(idOf(name)).toString('hex'), name]),
)

describeBackends('events', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
  })

  afterEach(() => test.drop())

  const accept = (...each: string[]) =>
    store.withLedger((ledger) =>
      ledger.apply({ transactions: each.map((name) => transaction(name, [], [alice])) }),
    )

  const readAll = (filter: EventFilter = {}, limit = 1000, after = start): Promise<LedgerEvent[]> =>
    readEvents(store, { filter, limit, after })

  const text = ({ accepted, rejected, block, verdict }: EventPosition) =>
    [accepted, rejected, block, verdict].map(String)

  /** Two blocks, a roll-back of the second, a rejection and a drop. */
  async function history(): Promise<void> {
    await accept('a', 'b')
    const one = await buildBlock(store, lease, 'one', 10)
    await store.blocks.setState([one.headerHash], 'submitted', lease)
    await accept('c')
    await store.rejections.add([newRejection('1')])
    await store.blocks.setState([one.headerHash], 'committed', lease)
    const two = await buildBlock(store, lease, 'two', 10)
    await store.blocks.setState([one.headerHash, two.headerHash], 'submitted', lease)
    await store.blocks.returnToMempool(2n, lease)
    await accept('d')
    await store.blocks.setState([one.headerHash], 'committed', lease)
    await store.blocks.setState([one.headerHash], 'mature', lease)
    await store.blocks.setState([one.headerHash], 'merged', lease)
  }

  const expected = [
    'rejected 1',
    'a',
    'b',
    '1 built',
    '1 submitted',
    '1 committed',
    'c',
    '2 built',
    '1 submitted',
    '2 submitted',
    '2 removed',
    '1 committed',
    '1 mature',
    '1 merged',
    'd',
  ]

  it('report what has happened, states of a block after the acceptances of its transactions', async () => {
    await history()
    // The order of two blocks that one statement changes is the database's.
    const order = (events: LedgerEvent[]) => events.map(short)
    expect(order(await readAll()).sort()).toEqual([...expected].sort())
    expect(order(await readAll()).filter((name) => /^2/.test(name))).toEqual(
      expected.filter((name) => /^2/.test(name)),
    )
    const all = order(await readAll())
    expect(all.indexOf('1 built')).toBeGreaterThan(all.indexOf('b'))
    expect(all.indexOf('2 built')).toBeGreaterThan(all.indexOf('c'))
  })

  it('are reported once each, in pages of any size, from the position of any of them', async () => {
    await history()
    for (const limit of [1, 3, 7]) {
      const whole = await readAll({}, limit)
      expect(whole.map(short).sort()).toEqual([...expected].sort())
      for (const [place, { position }] of whole.entries()) {
        const rest = await readAll({}, limit, position)
        const expected = whole.slice(place + 1)
        expect(rest.map(short).sort()).toEqual(expected.map(short).sort())
      }
    }
  })

  it('report when a block enters a state, not when it is set again', async () => {
    await accept('a')
    const one = await buildBlock(store, lease, 'one', 10)
    await store.blocks.setState([one.headerHash], 'built', lease)
    await store.blocks.setMergeTransaction(one.headerHash, { id: idOf('merge'), cbor: idOf('m') }, lease)
    expect((await readAll()).map(short)).toEqual(['a', '1 built'])
    await store.blocks.setState([one.headerHash], 'merged', lease)
    expect((await readAll()).at(-1)).toMatchObject({
      state: 'merged',
      mergeTransactionId: idOf('merge'),
      commitTransactionId: one.commitTransaction!.id,
      endTime: one.endTime,
      transactions: 1,
    })
  })

  it('report a removed block that layer 1 has after all', async () => {
    await accept('a')
    const one = await buildBlock(store, lease, 'one', 10)
    await store.blocks.returnToMempool(1n, lease)
    await store.blocks.revive(one.headerHash, lease)
    expect((await readAll()).map(short)).toEqual(['a', '1 built', '1 removed', '1 committed'])
  })

  it('report dropped transactions as rejections', async () => {
    await accept('a', 'b')
    const reason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late.', details: {} }
    const hex = Buffer.from(idOf('a')).toString('hex')
    await store.blocks.drop(new Map([[hex, reason]]), () => undefined, lease)
    expect((await readAll()).map(short)).toEqual([`rejected dropped-${hex}`, 'b'])
  })

  it('continue where a reader was, after a drop and a reset have taken acceptances', async () => {
    await accept('a', 'b')
    const before = await store.events.head()
    await store.blocks.reset(lease)
    expect((await store.events.head()).accepted).toBe(0n)
    await accept('c')
    expect((await readAll({}, 10, before)).map(short)).toEqual(['c'])
  })

  it('are filtered by type, transaction and block', async () => {
    await history()
    const cases: [EventFilter, string[]][] = [
      [{ types: ['rejected', 'accepted'] }, ['rejected 1', 'a', 'b', 'c', 'd']],
      [{ transactions: [idOf('c'), idOf('unknown')] }, ['c', '2 built', '2 submitted', '2 removed']],
      [{ transactions: [idOf('1')] }, ['rejected 1']],
      [{ address: bob.address }, []],
      [{ headerHash: idOf('two').slice(0, 28) }, ['2 built', '2 submitted', '2 removed']],
      [{ types: ['accepted'], transactions: [idOf('c')] }, ['c']],
    ]
    for (const [filter, expected] of cases) {
      for (const limit of [1, 1000]) expect((await readAll(filter, limit)).map(short)).toEqual(expected)
    }
  })

  it('of a transaction that a removal took out of the ledger are those of its block', async () => {
    await accept('a')
    const one = await buildBlock(store, lease, 'one', 10)
    await store.blocks.setState([one.headerHash], 'committed', lease)
    await store.blocks.undo(1n, lease)
    expect((await readAll({ transactions: [idOf('a')] })).map(short)).toEqual([
      '1 built',
      '1 committed',
      '1 removed',
    ])
  })

  it('are filtered by address: acceptances and the blocks that have them', async () => {
    await accept('a')
    await store.withLedger((ledger) =>
      ledger.apply({ transactions: [transaction('b', [outputOf('a')], [bob])] }),
    )
    await buildBlock(store, lease, 'one', 1)
    await buildBlock(store, lease, 'two', 1)
    expect((await readAll({ address: bob.address })).map(short)).toEqual(['b', '2 built'])
    expect((await readAll({ address: alice.address })).map(short)).toEqual(['a', '1 built', 'b', '2 built'])
  })

  it('never appear below a position that was read, however many write at once', async () => {
    const stores = [store, await test.another()]
    const seen: string[] = []
    let writing = true
    const reading = (async () => {
      for (let position = start; ; ) {
        const last = !writing
        const to = await store.events.head()
        const page = await store.events.read({ after: position, to, filter: {}, limit: 1000 })
        seen.push(...page.events.map((event) => `${event.type} ${text(event.position)}`))
        position = page.position
        if (last) return
      }
    })()
    await Promise.all(
      Array.from({ length: 24 }, async (_, n) => {
        const own = stores[n % 2]!
        if (n % 3 === 0) await own.rejections.add([newRejection(`r ${n}`), newRejection(`s ${n}`)])
        else
          await own.withLedger(async (ledger) => {
            await ledger.apply({ transactions: [transaction(`t ${n}`, [], [alice])] })
            await ledger.rejections.add([newRejection(`u ${n}`)])
            await ledger.apply({ transactions: [transaction(`v ${n}`, [], [alice])] })
          })
      }),
    )
    writing = false
    await reading
    expect(new Set(seen).size).toBe(seen.length)
    const counts = (type: string) => seen.filter((event) => event.startsWith(type)).length
    expect([counts('accepted'), counts('rejected')]).toEqual([32, 32])
  })

  it('refuse pages of no or too many events', async () => {
    for (const limit of [0, -1, 1.5, 1001]) {
      const read = store.events.read({ after: start, to: start, filter: {}, limit })
      await expect(read).rejects.toMatchObject({ code: 'STORE_INVALID_ARGUMENT' })
    }
  })
})

describeBackends('the place of a transaction', (backend) => {
  let test: TestStore

  beforeEach(async () => {
    test = await backend.create()
  })

  afterEach(() => test.drop())

  it('is the mempool, then a block in each of its states, then the mempool again', async () => {
    const { store } = test
    const lease = await takeLease(store)
    expect(await store.placeOf(idOf('a'))).toBeUndefined()
    await store.withLedger((ledger) =>
      ledger.apply({ transactions: [transaction('other', [], [alice]), transaction('a', [], [alice])] }),
    )
    const accepted = { sequence: expect.any(BigInt), acceptedAt: expect.any(Date) }
    expect(await store.placeOf(idOf('a'))).toEqual(accepted)
    expect(await store.placesOf([idOf('none'), idOf('a')])).toEqual([undefined, accepted])
    const { headerHash, endTime, commitTransaction } = await buildBlock(store, lease, 'one', 10)
    const block = { height: 1n, headerHash, endTime, commitTransactionId: commitTransaction!.id }
    for (const state of ['built', 'submitted', 'committed', 'mature'] as const) {
      await store.blocks.setState([headerHash], state, lease)
      expect(await store.placeOf(idOf('a'))).toEqual({ ...accepted, position: 1, block: { ...block, state } })
    }
    const places = await store.placesOf([idOf('a'), idOf('none'), idOf('other')])
    expect(places.map((place) => place?.position)).toEqual([1, undefined, 0])
    await store.blocks.setMergeTransaction(headerHash, { id: idOf('merge'), cbor: idOf('m') }, lease)
    expect(await store.placeOf(idOf('other'))).toEqual({
      ...accepted,
      position: 0,
      block: { ...block, state: 'mature', mergeTransactionId: idOf('merge') },
    })
    await store.blocks.returnToMempool(1n, lease)
    expect(await store.placeOf(idOf('a'))).toEqual(accepted)
  })
})
