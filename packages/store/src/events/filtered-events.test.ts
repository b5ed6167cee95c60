import type { EventFilter, EventPosition } from '@ratatosk/ports'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Lease } from '../leases/types.js'
import type { AppliedTransaction } from '../ledger/types.js'
import type { Store } from '../store.js'
import { describeEveryBackend, type TestStore } from '../test/backends.js'
import { buildBlock, headerHashOf, takeLease } from '../test/blocks.js'
import { createExaminer, foreignBlock } from '../test/examine.js'
import { acceptedIn, readEvents } from '../test/read-events.js'
import { entry, idOf, outputOf, transaction, walletOf } from '../test/transactions.js'

const [alice, bob] = [walletOf('alice'), walletOf('bob')]
const start: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const many = 12_000

describeEveryBackend('filtered events', (backend) => {
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
