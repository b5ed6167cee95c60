import { connect, createServer, type Server, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { collect, randomName } from '@ratatosk/test-kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore, type StoreOptions } from './open-store.js'
import type { Store } from './store.js'
import { databaseUrl, postgresql, type TestStore } from './test/backends.js'
import { entry, outputOf, transaction, walletOf } from './test/samples.js'

const alice = walletOf('alice')
const bob = walletOf('bob')
const payment = transaction('payment', [outputOf('genesis')], [bob])

/** Ends, from the server's side, every other connection that waits inside a transaction on the schema. */
async function cutTransactions({ database, schema }: TestStore): Promise<void> {
  const cut = await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE relation = '${schema}.mempool_ledger'::regclass AND pid <> pg_backend_pid()`,
  )
  expect(cut.length).toBeGreaterThan(0)
}

/** A TCP line to the database whose open connections can be made to carry nothing more. */
async function openLine() {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${await listen(server)}`
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    cut,
    close() {
      cut()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe.skipIf(postgresql.missing !== undefined)('a PostgreSQL connection', () => {
  let test: TestStore
  let store: Store

  beforeEach(async () => {
    test = await postgresql.create()
    store = test.store
    await store.applyGenesis([entry(outputOf('genesis'), alice)])
  })

  afterEach(() => test.drop())

  it('rolls back a batch when it is lost between two statements; the next batch succeeds', async () => {
    for (let round = 0; round < 5; round += 1) {
      const cut = store.withLedger(async (ledger) => {
        await ledger.apply({ transactions: [payment] })
        await cutTransactions(test)
        await ledger.known([payment.id])
      })
      await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true })
      expect(await store.transaction(payment.id)).toBeUndefined()
    }
    await store.withLedger((ledger) => ledger.apply({ transactions: [payment] }))
    expect(await collect(store.utxoPages(bob.address))).toHaveLength(1)
  })

  it('blocks other processes from the lock on, and refuses what they changed before it', async () => {
    const other = await openStore({ url: databaseUrl, schema: test.schema })
    try {
      const rival = transaction('rival', [outputOf('genesis')], [alice])
      const events: string[] = []
      const outdated = store.withUnlockedLedger(async (unlocked) => {
        expect(await unlocked.outputs([outputOf('genesis')])).not.toContain(undefined)
        await other.withLedger((ledger) => ledger.apply({ transactions: [rival] }))
        const ledger = await unlocked.lock()
        await ledger.apply({ transactions: [payment] })
      })
      await expect(outdated).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      expect(await store.transaction(payment.id)).toBeUndefined()

      const next = transaction('next', [outputOf('rival')], [bob])
      let waiting: Promise<void> | undefined
      await store.withUnlockedLedger(async (unlocked) => {
        const ledger = await unlocked.lock()
        waiting = other.withLedger(async () => void events.push('other'))
        await ledger.apply({ transactions: [next] })
        events.push('applied')
      })
      await waiting
      expect(events).toEqual(['applied', 'other'])
      expect(await collect(store.utxoPages(bob.address))).toHaveLength(1)
    } finally {
      await other.close()
    }
  })

  it('refuses further statements of a batch when it is lost while the batch computes', async () => {
    let ended = false
    const cut = store.withLedger(async (ledger) => {
      await ledger.apply({ transactions: [payment] })
      await cutTransactions(test)
      await new Promise((resolve) => setTimeout(resolve, 50))
      // The work has not noticed: what it still writes must not reach a connection outside the transaction.
      await ledger
        .apply({ transactions: [transaction('next', [outputOf('payment')], [alice])] })
        .finally(() => {
          ended = true
        })
    })
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(ended).toBe(true)
    expect(await collect(store.utxoPages(alice.address))).toHaveLength(1)
    expect(await collect(store.historyPages(alice.address, { limit: 10, offset: 0 }))).toEqual([])
  })

  it('is replaced when it is lost while idle', async () => {
    const name = randomName()
    const resting = await openStore({ url: `${databaseUrl}?application_name=${name}`, schema: test.schema })
    try {
      await Promise.all([resting.ping(), resting.ping(), resting.ping()])
      const cut = await test.database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [name],
      )
      expect(cut).not.toEqual([])
      // A connection may be chosen before its loss is noticed; that statement fails, and soon none does.
      while (
        await resting.ping().then(
          () => false,
          (error) => error.code === 'STORE_UNAVAILABLE',
        )
      );
      await resting.withLedger((ledger) => ledger.apply({ transactions: [payment] }))
      expect(await resting.transaction(payment.id)).toEqual(payment.cbor)
    } finally {
      await resting.close()
    }
  })

  it('fails a statement that waits too long with STORE_TIMEOUT and becomes free again', async () => {
    const impatient = await openStore({ url: databaseUrl, schema: test.schema, statementTimeoutMs: 500 })
    try {
      await store.withLedger(async () => {
        const second = impatient.withLedger(async () => {})
        await expect(second).rejects.toMatchObject({
          code: 'STORE_TIMEOUT',
          sqlState: '57014',
          retryable: true,
        })
      })
      await impatient.withLedger((ledger) => ledger.apply({ transactions: [payment] }))
    } finally {
      await impatient.close()
    }
  })

  it('is abandoned when the server stops answering; the next batch succeeds', async () => {
    const line = await openLine()
    const remote = await openStore({ url: line.url, schema: test.schema, statementTimeoutMs: 1_000 })
    try {
      const cut = remote.withLedger(async (ledger) => {
        await ledger.apply({ transactions: [payment] })
        line.freeze()
        await ledger.known([payment.id])
      })
      await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      line.cut()
      await remote.withLedger(async (ledger) => {
        expect(await ledger.known([payment.id])).toEqual([false])
        await ledger.apply({ transactions: [payment] })
      })
    } finally {
      await remote.close()
      await line.close()
    }
  })

  it('loses the ledger lock when its holder stays idle', async () => {
    const silent = await openStore({ url: databaseUrl, schema: test.schema, idleInTransactionTimeoutMs: 300 })
    try {
      const holder: { goOn?: () => void } = {}
      const stuck = silent.withLedger(async (ledger) => {
        await ledger.apply({ transactions: [payment] })
        await new Promise<void>((resolve) => {
          holder.goOn = resolve
        })
      })
      const outcome = expect(stuck).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      while (holder.goOn === undefined) await test.database.query('SELECT 1')
      await store.withLedger(async (ledger) => expect(await ledger.known([payment.id])).toEqual([false]))
      holder.goOn()
      await outcome
    } finally {
      await silent.close()
    }
  })

  it("commits with synchronous_commit on, whatever the database's default", async () => {
    const [row] = await test.database.query<{ synchronous_commit: string }>('SHOW synchronous_commit')
    expect(row?.synchronous_commit).toBe('on')
  })

  it('fails with STORE_CONFIGURATION if the database does not exist', async () => {
    const url = new URL(databaseUrl)
    url.pathname = `/${randomName()}`
    await expect(openStore({ url: url.href })).rejects.toMatchObject({
      code: 'STORE_CONFIGURATION',
      sqlState: '3D000',
    })
  })

  it.each([
    [{}, 'one of url, the address of a PostgreSQL database, and pglite, a PGlite, is required'],
    [{ uri: databaseUrl }, 'one of url, the address of'],
    [{ url: 5 }, 'one of url, the address of'],
    [undefined, 'one of url, the address of'],
    [{ pglite: {} }, 'one of url, the address of'],
    [{ pglite: null }, 'one of url, the address of'],
    [{ url: databaseUrl, scheme: 'a' }, 'there is no option scheme; its options are url, schema, readOnly, '],
    [{ url: databaseUrl, vacuumedSchemas: [] }, 'there is no option vacuumedSchemas; '],
    [
      { pglite: { transaction() {} }, maxConnections: 1 },
      'there is no option maxConnections; its options are pglite, ',
    ],
  ])('refuses the options %j by name', async (options, message) => {
    await expect(openStore(options as StoreOptions)).rejects.toMatchObject({
      code: 'STORE_CONFIGURATION',
      message: expect.stringContaining(message),
    })
  })

  it('refuses work after the store was closed', async () => {
    const other = await test.another()
    await Promise.all([other.close(), other.close()])
    await expect(other.ping()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(other.withLedger(async () => {})).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it('stops waiting for ping when the signal aborts', async () => {
    await expect(store.ping(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
    await store.ping(new AbortController().signal)
  })
})

describe('opening a store on PostgreSQL', () => {
  it('fails with STORE_UNAVAILABLE if nothing listens', async () => {
    const server = createServer()
    const port = await listen(server)
    await new Promise((resolve) => server.close(resolve))
    const opening = openStore({ url: `postgres://u:hidden@127.0.0.1:${port}/d`, schema: randomName() })
    await expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('fails with STORE_UNAVAILABLE if the server accepts but never answers', async () => {
    const server = createServer((socket) => socket.resume())
    const port = await listen(server)
    const opening = openStore({ url: `postgres://u@127.0.0.1:${port}/d`, connectTimeoutMs: 100 })
    await expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await new Promise((resolve) => server.close(resolve))
  })

  it.each([
    '',
    'nonsense',
    'mysql://u:hidden@h/d',
    'postgres://u:hidden@h:port/d',
    'postgres://u:hidden@[/d',
  ])('refuses the url %j without repeating it', async (url) => {
    const error: unknown = await openStore({ url }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'STORE_CONFIGURATION' })
    expect(inspect(error, { depth: 5 })).not.toContain('hidden')
  })
})
