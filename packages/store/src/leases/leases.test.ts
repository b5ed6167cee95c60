import { collect } from '@ratatosk/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { NewBlock } from '../blocks/types.js'
import type { Store } from '../store.js'
import { describeBackends, type TestStore } from '../test/backends.js'
import { dump } from '../test/inspect.js'
import {
  buildBlock,
  bytes,
  entry,
  headerHashOf,
  idOf,
  newBlock,
  outputOf,
  takeLease,
  transaction,
  walletOf,
} from '../test/samples.js'
import type { Lease, Leases } from './leases.js'

const hour = 3_600_000

describeBackends('leases', (backend) => {
  let test: TestStore
  let leases: Leases

  beforeEach(async () => {
    test = await backend.create()
    leases = test.store.leases
  })

  afterEach(() => test.drop())

  /** As if the lease had been taken long ago. */
  async function expire(name: string): Promise<void> {
    await test.database.query(
      `UPDATE ${test.schema}.leases SET expires_at = clock_timestamp() - interval '1 second' WHERE name = $1`,
      [name],
    )
  }

  it('are acquired by only one of many concurrent callers', async () => {
    const other = await test.another()
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? leases : other.leases).acquire('sequencer', `${n}`, hour),
      ),
    )
    const held = asked.filter((lease) => lease !== undefined)
    expect(held).toHaveLength(1)
    expect(held[0]).toMatchObject({ name: 'sequencer', token: 1n })
  })

  it('are independent of leases with another name', async () => {
    expect(await leases.acquire('sequencer', 'a', hour)).toBeDefined()
    expect(await leases.acquire('reset', 'b', hour)).toBeDefined()
  })

  it('can be acquired after they expire, with a greater token', async () => {
    const first = await leases.acquire('sequencer', 'a', hour)
    expect(await leases.acquire('sequencer', 'b', hour)).toBeUndefined()
    await expire('sequencer')
    const second = await leases.acquire('sequencer', 'b', hour)
    expect(second).toMatchObject({ holder: 'b', token: 2n })
    expect(await leases.renew(first!, hour)).toBeUndefined()
    expect(await leases.release(first!)).toBe(false)
    expect(await leases.renew(second!, hour)).toMatchObject({ holder: 'b', token: 2n })
  })

  it('expire after the requested time', async () => {
    await leases.acquire('sequencer', 'a', 1)
    let taken: unknown
    while (taken === undefined) taken = await leases.acquire('sequencer', 'b', hour)
    expect(taken).toMatchObject({ token: 2n })
  })

  it('are visible to every store until they expire', async () => {
    expect(await leases.current('sequencer')).toBeUndefined()
    const lease = await leases.acquire('sequencer', 'a', hour)
    expect(await (await test.another()).leases.current('sequencer')).toEqual(lease)
    expect(await leases.current('reset')).toBeUndefined()
    await expire('sequencer')
    expect(await leases.current('sequencer')).toBeUndefined()
    const second = await leases.acquire('sequencer', 'b', hour)
    expect(await leases.current('sequencer')).toEqual(second)
    await leases.release(second!)
    expect(await leases.current('sequencer')).toBeUndefined()
    expect(await leases.newest('sequencer')).toMatchObject({ holder: 'b', token: second!.token })
    expect(await leases.newest('reset')).toBeUndefined()
  })

  it('are extended from the time of the renewal', async () => {
    const lease = await leases.acquire('sequencer', 'a', hour)
    const renewed = await leases.renew(lease!, 3 * hour)
    expect(renewed!.expiresAt.getTime() - lease!.expiresAt.getTime()).toBeGreaterThanOrEqual(2 * hour)
    expect(renewed!.expiresAt.getTime() - lease!.expiresAt.getTime()).toBeLessThan(3 * hour)
  })

  it('cannot be renewed after they expire, even if they are free', async () => {
    const lease = await leases.acquire('sequencer', 'a', hour)
    await expire('sequencer')
    expect(await leases.renew(lease!, hour)).toBeUndefined()
  })

  it('are free when released, and never reuse a token', async () => {
    const first = await leases.acquire('sequencer', 'a', hour)
    expect(await leases.release(first!)).toBe(true)
    expect(await leases.release(first!)).toBe(false)
    const second = await leases.acquire('sequencer', 'a', hour)
    expect(second!.token).toBe(2n)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuse a duration of %d ms', async (ttlMs) => {
    await expect(leases.acquire('sequencer', 'a', ttlMs)).rejects.toMatchObject({
      code: 'STORE_INVALID_ARGUMENT',
    })
  })
})

const alice = walletOf('alice')
const bob = walletOf('bob')

/** Every method that changes something, so called that it would. */
const writers: readonly [string, (store: Store, lease: Lease, next: NewBlock) => Promise<unknown>][] = [
  ['build', ({ blocks }, lease, next) => blocks.build(next, lease)],
  ['setState', ({ blocks }, lease) => blocks.setState([headerHashOf('one')], 'merged', lease)],
  [
    'setMergeTransaction',
    ({ blocks }, lease) =>
      blocks.setMergeTransaction(headerHashOf('one'), { id: idOf('merge'), cbor: bytes('merge') }, lease),
  ],
  ['returnToMempool', ({ blocks }, lease) => blocks.returnToMempool(1n, lease)],
  ['revive', ({ blocks }, lease) => blocks.revive(headerHashOf('two'), lease)],
  ['forgetSpent', ({ blocks }, lease) => blocks.forgetSpent(new Date(Date.now() + 3_600_000), lease)],
  ['reset', ({ blocks }, lease) => blocks.reset(lease)],
]

describeBackends('leases of block writers', (backend) => {
  let test: TestStore
  let store: Store
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    store = test.store
    lease = await takeLease(store)
    const genesis = Array.from({ length: 4 }, (_, index) => entry(outputOf('genesis', index), alice))
    await store.applyGenesis(genesis)
    const transactions = genesis.map(({ reference }, n) => transaction(`${n}`, [reference], [bob]))
    await store.withLedger((ledger) => ledger.apply({ transactions }))
    // A merged block, one that is not, a removed one that could come back, and something in the mempool.
    const zero = await buildBlock(store, lease, 'zero', 1)
    await store.blocks.setState([zero.headerHash], 'merged', lease)
    await buildBlock(store, lease, 'one', 1)
    await buildBlock(store, lease, 'two', 1)
    await store.blocks.returnToMempool(3n, lease)
  })

  afterEach(() => test.drop())

  const expire = () => test.database.query(`UPDATE ${test.schema}.leases SET expires_at = clock_timestamp()`)

  it.each(writers)('%s succeeds under a lease', async (_, write) => {
    const before = await dump(test)
    await write(store, lease, await newBlock(store, 'next', 1))
    expect(await dump(test)).not.toEqual(before)
  })

  it.each(writers)('%s changes nothing after the lease is lost', async (_, write) => {
    const next = await newBlock(store, 'next', 1)
    const before = await dump(test)
    const lost = { code: 'STORE_LEASE_LOST', retryable: false }
    await expect(write(store, { ...lease, token: lease.token + 1n }, next)).rejects.toMatchObject(lost)
    await expect(write(store, { ...lease, name: 'another' }, next)).rejects.toMatchObject(lost)
    await expire()
    await expect(write(store, lease, next)).rejects.toMatchObject(lost)
    const successor = await takeLease(store)
    await expect(write(store, lease, next)).rejects.toMatchObject(lost)
    expect(await dump(test)).toEqual(before)
    await store.leases.release(successor)
    await expect(write(store, successor, next)).rejects.toMatchObject(lost)
    expect(await dump(test)).toEqual(before)
  })

  it('only one of two concurrent builds succeeds, under one lease or two', async () => {
    const leases = [lease, lease, await takeLease(store, 'another'), lease]
    const stores = [store, await test.another(), await test.another(), store]
    const planned = await Promise.all(stores.map((one, n) => newBlock(one, `of ${n}`, 2)))
    const built = await Promise.allSettled(stores.map((one, n) => one.blocks.build(planned[n]!, leases[n]!)))
    const won = built.filter(({ status }) => status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const one of built) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'STORE_CONFLICT' })
    }
    const newest = await store.blocks.newest()
    expect(newest?.height).toBe(3n)
    expect(await store.blocks.transactionsOf(newest!.headerHash)).toHaveLength(2)
    expect(await store.blocks.waiting(10)).toBe(0)
  })

  it('concurrent readers and batches find each transaction exactly once', async () => {
    const other = await test.another()
    const ids = Array.from({ length: 4 }, (_, n) => idOf(`${n}`))
    let rounds = 0
    let ended = false
    const moving = (async () => {
      for (; rounds < 15; rounds += 1) {
        await buildBlock(store, lease, `round ${rounds}`, 100)
        await store.blocks.returnToMempool(3n, lease)
        await store.blocks.revive(headerHashOf(`round ${rounds}`), lease)
        await store.blocks.returnToMempool(2n, lease)
        await buildBlock(store, lease, 'one', 1)
      }
    })().finally(() => {
      ended = true
    })
    let applied = 0
    while (!ended) {
      for (const id of ids) expect(await other.transaction(id)).toBeDefined()
      const history = await collect(other.historyPages(bob.address, { limit: 1_000, offset: 0 }))
      expect(history.map((cbor) => Buffer.from(cbor).toString())).toEqual([
        ...ids.map((_, n) => `transaction ${n}`),
        ...Array.from({ length: applied }, (_, n) => `transaction late ${n}`),
      ])
      await other.withLedger(async (ledger) => {
        expect(await ledger.known(ids)).toEqual([true, true, true, true])
        const late = transaction(`late ${applied}`, [], [bob])
        expect(await ledger.known([late.id])).toEqual([false])
        await ledger.apply({ transactions: [late] })
      })
      applied += 1
    }
    await moving
    expect(rounds).toBe(15)
    const held = await Promise.all(
      (await store.blocks.range(1n, 100n)).map(({ headerHash }) => store.blocks.transactionsOf(headerHash)),
    )
    const waiting = await store.blocks.oldest(1_000)
    expect([...held.flat(), ...waiting].map(({ cbor }) => cbor)).toEqual(
      await collect(store.historyPages(bob.address, { limit: 1_000, offset: 0 })),
    )
  })

  // PGlite has one connection: nothing can come between the statements of a transaction there.
  it.skipIf(backend.name === 'PGlite')('a connection lost halfway changes nothing', async () => {
    const next = await newBlock(store, 'next', 1)
    const before = await dump(test)
    const { database, schema } = test
    /** Lets `write` come as far as a locked table, and cuts it there. */
    async function cut(table: string, write: () => Promise<unknown>): Promise<void> {
      await database.transaction(async (holder) => {
        await holder.query(`LOCK TABLE ${schema}.${table} IN SHARE MODE`)
        const written = write().then(
          () => undefined,
          (error) => error,
        )
        let terminated: unknown[] = []
        while (terminated.length === 0) {
          terminated = await holder.query(
            `SELECT pg_terminate_backend(pid) FROM pg_locks
              WHERE NOT granted AND relation = '${schema}.${table}'::regclass`,
          )
        }
        expect(await written).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      })
      expect(await dump(test)).toEqual(before)
    }
    await cut('mempool_transactions', () => store.blocks.build(next, lease))
    await cut('block_transactions', () => store.blocks.returnToMempool(1n, lease))
    await cut('mempool_transactions', () => store.blocks.revive(headerHashOf('two'), lease))
    await cut('genesis', () => store.blocks.reset(lease))
    expect(await store.blocks.build(next, lease)).toMatchObject({ height: 3n })
  })

  it.skipIf(backend.name === 'PGlite')('a writer waits for the one before it', async () => {
    const { database, schema } = test
    const next = await newBlock(store, 'next', 1)
    let building: Promise<unknown> | undefined
    let returning: Promise<unknown> | undefined
    await database.transaction(async (holder) => {
      await holder.query(`LOCK TABLE ${schema}.mempool_transactions IN SHARE MODE`)
      building = store.blocks.build(next, lease)
      await waitedFor(holder, `relation = '${schema}.mempool_transactions'::regclass`)
      returning = store.blocks.returnToMempool(2n, lease)
      await waitedFor(
        holder,
        `(classid::bigint << 32) + objid::bigint = hashtextextended('ratatosk blocks of "${schema}"', 0)`,
      )
    })
    await building
    expect(await returning).toMatchObject([{ height: 2n }, { height: 3n }])
    expect(await store.blocks.newest()).toMatchObject({ height: 1n })
    expect(await store.blocks.waiting(10)).toBe(3)
  })

  it.skipIf(backend.name === 'PGlite')(
    'a lease is renewed during the work begun under it, and changes hands only after it',
    async () => {
      const { database, schema } = test
      const next = await newBlock(store, 'next', 1)
      let building: Promise<unknown> | undefined
      let taking: Promise<unknown> | undefined
      await database.transaction(async (holder) => {
        await holder.query(`LOCK TABLE ${schema}.mempool_transactions IN SHARE MODE`)
        building = store.blocks.build(next, lease)
        await waitedFor(holder, `relation = '${schema}.mempool_transactions'::regclass`)
        expect(await store.leases.renew(lease, 3_600_000)).toMatchObject({ token: lease.token })
        taking = store.leases.release(lease).then(async () => {
          const successor = await takeLease(store)
          expect(successor.token).toBe(lease.token + 1n)
          expect(await store.blocks.newest()).toMatchObject({ headerHash: next.headerHash })
        })
        await waitedFor(
          holder,
          `locktype = 'transactionid'
          AND pid IN (SELECT pid FROM pg_locks WHERE relation = '${schema}.leases'::regclass)`,
        )
        expect(await store.leases.current('sequencer')).toBeUndefined()
      })
      await Promise.all([building, taking])
    },
  )
})

async function waitedFor({ query }: Pick<TestStore['database'], 'query'>, lock: string): Promise<void> {
  while ((await query(`SELECT pid FROM pg_locks WHERE NOT granted AND ${lock}`)).length === 0);
}
