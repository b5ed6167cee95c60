import { setTimeout as sleep } from 'node:timers/promises'
import { appliedMigrations, inSchema, migrate, openPostgres } from '@ratatosk/database'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { Lease } from './leases/types.js'
import { readStored, type StoredLedger } from './read-stored.js'
import { storeMigrations } from './schema/migrations.js'
import { databaseUrl, describeEveryBackend, type TestStore } from './test/backends.js'
import { buildBlock, headerHashOf, takeLease } from './test/blocks.js'
import { dump } from './test/dump.js'
import { bytes, entry, outputOf, transaction, walletOf } from './test/transactions.js'

const alice = walletOf('alice')
const genesis = [entry(outputOf('genesis'), alice), entry(outputOf('genesis', 1), alice)]
const chain = [
  transaction('a', [outputOf('genesis')], [alice, alice]),
  transaction('b', [outputOf('a', 1)], [alice]),
  transaction('c', [outputOf('b'), outputOf('genesis', 1)], [alice]),
]

/** Outputs and transactions by what the test calls them. */
async function contentsOf(stored: StoredLedger | undefined) {
  if (stored === undefined) throw new Error('There is no store')
  const outputs: string[] = []
  for await (const page of stored.confirmedOutputs())
    outputs.push(...page.map(({ output }) => Buffer.from(output).toString()))
  const transactions: string[] = []
  const takenOut: string[] = []
  for (const [pages, names] of [
    [stored.accepted(), transactions],
    [stored.takenOut(), takenOut],
  ] as const)
    for await (const page of pages) names.push(...page.map((cbor) => Buffer.from(cbor).toString()))
  const isUndone = takenOut.length > 0
  return {
    height: await stored.confirmedHeight(),
    outputs: outputs.sort(),
    transactions,
    ...(isUndone && { takenOut }),
  }
}

const named = (...references: readonly ReturnType<typeof outputOf>[]) =>
  references.map((reference) => Buffer.from(entry(reference, alice).output).toString()).sort()
const all = (...names: readonly string[]) => names.map((name) => `transaction ${name}`)

describeEveryBackend('a stored ledger', (backend) => {
  let test: TestStore
  let lease: Lease

  beforeEach(async () => {
    test = await backend.create()
    lease = await takeLease(test.store)
  })

  afterEach(() => test.drop())

  const read = <T>(work: (stored: StoredLedger | undefined) => Promise<T>) => readStored(test.place, work)

  it('is the genesis until a block is merged, then the state after it, with the rest', async () => {
    const { store } = test
    expect(await read(contentsOf)).toEqual({ height: 0n, outputs: [], transactions: [] })
    await store.applyGenesis(genesis)
    const begun = named(outputOf('genesis'), outputOf('genesis', 1))
    expect(await read(contentsOf)).toEqual({ height: 0n, outputs: begun, transactions: [] })
    await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
    await buildBlock(store, lease, 'one', 2)
    const before = await dump(test)
    expect(await read(contentsOf)).toEqual({ height: 0n, outputs: begun, transactions: all('a', 'b', 'c') })
    expect(await dump(test)).toEqual(before)

    await store.blocks.setState([headerHashOf('one')], 'merged', lease)
    const merged = named(outputOf('genesis', 1), outputOf('a'), outputOf('b'))
    expect(await read(contentsOf)).toEqual({ height: 1n, outputs: merged, transactions: all('c') })
    await store.blocks.forgetSpent(new Date(Date.now() + 60_000), lease)
    await buildBlock(store, lease, 'two', 1)
    expect(await read(contentsOf)).toEqual({ height: 1n, outputs: merged, transactions: all('c') })
    await store.withLedger((ledger) =>
      ledger.apply({ transactions: [transaction('d', [outputOf('a')], [alice])] }),
    )
    await store.blocks.undo(2n, lease)
    await store.withLedger((ledger) =>
      ledger.apply({ transactions: [transaction('e', [outputOf('b')], [alice])] }),
    )
    expect(await read(contentsOf)).toEqual({
      height: 1n,
      outputs: merged,
      transactions: all('e'),
      takenOut: all('c', 'd'),
    })
  })

  it('is read in pages', async () => {
    const { store } = test
    const count = 1_203
    await store.applyGenesis(Array.from({ length: count }, (_, n) => entry(outputOf(`g${n}`), alice)))
    const spends = Array.from({ length: count }, (_, n) => transaction(`t${n}`, [outputOf(`g${n}`)], [alice]))
    await store.withLedger((ledger) => ledger.apply({ transactions: spends }))
    const { outputs, transactions } = await read(contentsOf)
    expect(outputs).toEqual(named(...Array.from({ length: count }, (_, n) => outputOf(`g${n}`))))
    expect(transactions).toEqual(spends.map(({ cbor }) => Buffer.from(cbor).toString()))
  })

  it('is read at the pace of its reader', async () => {
    const { place } = test
    if (!('url' in place)) return
    await test.store.applyGenesis(genesis)
    const url = `${place.url}?idle_in_transaction_session_timeout=200`
    const slow = readStored({ ...place, url }, async (stored) => {
      await sleep(500)
      return contentsOf(stored)
    })
    expect((await slow).outputs).toHaveLength(genesis.length)
  })

  it('says who uses it, and what a node must know of it', async () => {
    const { store } = test
    await store.ledgerVersion(11, 10)
    await store.applyGenesis(genesis)
    await store.withLedger((ledger) => ledger.apply({ transactions: chain }))
    await buildBlock(store, lease, 'one', 1)
    const head = await read(async (stored) => ({
      ...stored,
      deadLetters: await stored?.deadLetters(),
      users: await stored?.users(),
    }))
    expect(head).toMatchObject({ ledgerVersion: 11, archivedHeader: undefined, deadLetters: 0 })
    expect(head.newest).toEqual({ header: bytes('header of one'), commitTransaction: bytes('commit one') })
    // An embedded one is a copy.
    const isServer = 'url' in test.place
    const users = [expect.stringMatching(/^a session from /), 'the lease "sequencer" of a test']
    expect([...new Set(head.users)].sort()).toEqual(isServer ? users : [])
    if (!isServer) return
    const earlier = openPostgres({ url: databaseUrl })
    onTestFinished(() => earlier.close())
    await test.store.close()
    const sessions = () =>
      read(async (stored) => (await stored?.users())?.filter((user) => user.startsWith('a session')))
    await earlier.run('SELECT 1', [])
    expect(await sessions()).toEqual([])
    await earlier.run(`SELECT count(*) FROM "${test.schema}".blocks`, [])
    expect(await sessions()).toHaveLength(1)
  })

  it.each([1, 6, 10])('is read as its first %i migrations left it, and not migrated', async (count) => {
    const schema = `"${test.schema}"`
    await test.database.query(`DROP SCHEMA ${schema} CASCADE`)
    expect(await read(async (stored) => stored)).toBeUndefined()
    const old = storeMigrations().slice(0, count + 1)
    await migrate(inSchema(test.driver, schema), old)
    await test.database.query(
      `INSERT INTO ${schema}.mempool_ledger (transaction_id, output_index, output, address, sequence)
        VALUES (sha256('x'), 0, 'paid', 'alice', 1)`,
    )
    expect(await read(contentsOf)).toEqual({ height: 0n, outputs: ['paid'], transactions: [] })
    expect(await appliedMigrations(inSchema(test.driver, schema), storeMigrations())).toBe(count + 1)
    await test.database.query(`UPDATE ${schema}.migrations SET hash = 'of a later version' WHERE id = 1`)
    await expect(read(contentsOf)).rejects.toMatchObject({ code: 'STORE_SCHEMA_MISMATCH' })
  })
})
