import type { EventFilter, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction } from '../ledger/ledger.js'
import type { Store } from '../store.js'
import { describeBackends, describeEveryBackend, type TestStore } from '../test/backends.js'
import { acceptedIn, readEvents } from '../test/inspect.js'
import {
  buildBlock,
  createExaminer,
  entry,
  foreignBlock,
  headerHashOf,
  hex,
  idOf,
  newRejection,
  outputOf,
  takeLease,
  transaction,
  verdictOf,
  verdictOperator,
  walletOf,
} from '../test/samples.js'

const start: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }
const alice = walletOf('alice')
const bob = walletOf('bob')

function short(event: LedgerEvent): string {
  if (event.type === 'block') return `${event.height} ${event.state}`
  if (event.type === 'rejected') return `rejected ${event.submissionId}`
  if (event.type === 'verdict') return event.state
  return names.get(hex(event.transactionId)) ?? '?'
}

const names = new Map(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [hex(idOf(name)), name]))

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
    const id = hex(idOf('a'))
    await store.blocks.drop(new Map([[id, reason]]), () => undefined, lease)
    expect((await readAll()).map(short)).toEqual([`rejected dropped-${id}`, 'b'])
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

describeEveryBackend('filtered events', (backend) => {
  const many = 12_000

  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
  })

  afterEach(() => test.drop())

  /** Reads to the head; returns how many pages that took, and what they had. */
  async function pagesOf(filter: EventFilter): Promise<{ pages: number; types: string[] }> {
    const to = await store.events.head()
    const types: string[] = []
    for (let [position, pages] = [start, 0]; ; pages++) {
      const page = await store.events.read({ after: position, to, filter, limit: 250 })
      types.push(...page.events.map(({ type }) => type))
      if (page.position.block === position.block && page.position.accepted === position.accepted)
        return { pages, types }
      position = page.position
    }
  }

  /** As many states of blocks, before whatever happens next. */
  const fillBlockEvents = () =>
    test.database.query(
      `INSERT INTO ${test.schema}.block_events (header_hash, height, state, transactions, first_sequence,
      last_sequence, end_time, at)
    SELECT substr(sha256(('b' || n)::bytea), 1, 28), n, 'built', 1, -n, -n, n, now()
    FROM generate_series(1, $1::integer) AS n`,
      [many],
    )

  it('of transactions are read a part of a long log at a time', async () => {
    await fillBlockEvents()
    await store.withLedger((ledger) => ledger.apply({ transactions: [transaction('a', [], [alice])] }))
    await buildBlock(store, lease, 'one', 1)
    const unknown = Array.from({ length: 49 }, (_, n) => idOf(`unknown ${n}`))
    const { pages, types } = await pagesOf({ transactions: [...unknown, idOf('a')] })
    expect(types).toEqual(['accepted', 'block'])
    expect(pages).toBe(many / 1_000 + 1)
    expect(await pagesOf({ headerHash: headerHashOf('one') })).toEqual({ pages: 1, types: ['block'] })
  })

  it('of an address are read a part of a long log at a time, unless it has few', async () => {
    await fillBlockEvents()
    await test.database.query(
      `WITH added AS (
      INSERT INTO ${test.schema}.mempool_transactions (sequence, event_sequence, transaction_id, cbor)
      SELECT n, n, sha256(('t' || n)::bytea), 'x' FROM generate_series(1, $1::integer) AS n
      RETURNING sequence
    ) INSERT INTO ${test.schema}.address_history
      SELECT $2::bytea, sequence FROM added UNION ALL SELECT $3::bytea, $1::integer`,
      [many, alice.address, bob.address],
    )
    expect(await pagesOf({ address: bob.address, types: ['accepted'] })).toEqual({
      pages: 1,
      types: ['accepted'],
    })
    const { types } = await pagesOf({ address: alice.address, types: ['accepted'] })
    expect(types).toHaveLength(many)
    const carol = await pagesOf({ address: walletOf('carol').address })
    expect(carol).toEqual({ pages: many / 1_000, types: [] })
  })

  it('are the same ones after a block of another operator was adopted', async () => {
    const { learn, examine } = createExaminer()
    const make = (name: string, of: string, index: number) =>
      learn(transaction(name, [outputOf(of, index)], [name === 'b' ? bob : alice]))
    const genesis = Array.from({ length: 4 }, (_, index) => entry(outputOf('genesis', index), alice))
    await store.applyGenesis(genesis)
    const mine: readonly AppliedTransaction[] = ['a', 'b', 'c'].map((name, n) => make(name, 'genesis', n))
    await store.withLedger((ledger) => ledger.apply({ transactions: mine }))
    const before = await store.events.head()
    const theirs = make('theirs', 'genesis', 3)
    for (const [n, contents] of [[theirs], [mine[2]!], []].entries())
      await store.blocks.adopt(await foreignBlock(store, `block ${n}`, contents), examine, lease)

    const ids = async (filter: EventFilter, after = start) =>
      acceptedIn(await readEvents(store, { filter, after, limit: 2 }))
    const all = [...mine, theirs].map(({ id }) => hex(id))
    expect(await ids({})).toEqual(all)
    expect(await ids({ address: alice.address })).toEqual(all)
    expect(await ids({ address: bob.address })).toEqual([hex(idOf('b'))])
    expect(await ids({ transactions: [idOf('c'), idOf('theirs')] })).toEqual(all.slice(2))
    for (const filter of [
      {},
      { address: alice.address },
      { transactions: [...mine, theirs].map(({ id }) => id) },
    ])
      expect(await ids(filter, before)).toEqual([hex(theirs.id)])
  })
})

describeBackends('events of verdicts', (backend) => {
  const short = (event: LedgerEvent) =>
    event.type === 'verdict' ? `verdict ${event.block.height} ${event.state}` : event.type

  it('report each state once, with the proof, until the verdict is deleted', async () => {
    const test = await backend.create()
    const { store } = test
    const readAll = (filter: EventFilter = {}, limit = 1000, after = start) =>
      readEvents(store, { after, filter, limit })
    try {
      const { verdicts } = store
      const verdict = verdictOf(7)
      const { headerHash } = verdict
      await verdicts.found({ ...verdict, state: 'unavailable' })
      await verdicts.found({ ...verdict, state: 'unavailable' })
      await store.withLedger((ledger) => ledger.apply({ transactions: [transaction('a', [], [alice])] }))
      await verdicts.found(verdict)
      const proof = { policy: 'witness', fraud: 'missingSignature' }
      const removal = {
        id: idOf('one'),
        stage: 'removal',
        cbor: idOf('cbor'),
        fee: 1n,
        locked: 0n,
      } as const
      await verdicts.record(headerHash, removal, proof)
      await verdicts.removed(headerHash)
      await verdicts.removed(headerHash)
      const states = ['unavailable', 'invalid', 'removing', 'removed'].map((state) => `verdict 7 ${state}`)
      const all = await readAll()
      expect(all.map(short)).toEqual(['accepted', ...states])
      expect(all.at(-1)).toEqual({
        type: 'verdict',
        position: await store.events.head(),
        block: { headerHash, height: 7n, operatorKey: verdictOperator },
        state: 'removed',
        reason: 'breaks rule 7',
        proof,
        at: expect.any(Date),
      })
      for (const [place, { position }] of all.entries())
        for (const limit of [1, 10])
          expect((await readAll({}, limit, position)).map(short)).toEqual([...states].slice(place))
      expect((await readAll({ headerHash })).map(short)).toEqual(states)
      expect((await readAll({ types: ['verdict'] }, 1)).map(short)).toEqual(states)
      for (const filter of [{ address: alice.address }, { transactions: [idOf('a')] }])
        expect((await readAll(filter)).map(short)).toEqual(['accepted'])

      const head = await store.events.head()
      await test.database.query(`DELETE FROM "${test.schema}".verdicts`)
      expect((await readAll()).map(short)).toEqual(['accepted'])
      await verdicts.found(verdictOf(8))
      expect((await readAll({}, 1000, head)).map(short)).toEqual(['verdict 8 invalid'])
    } finally {
      await test.drop()
    }
  })
})
