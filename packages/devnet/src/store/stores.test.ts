import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { createDevnet } from '../create-devnet.js'
import { draft } from '../test/draft.js'
import { genesisOf, testKey } from '../test/keys.js'
import { utxoSet } from '../test/utxo-digest.js'
import type { Devnet } from '../types.js'
import { createMemoryStore } from './memory-store.js'
import { createSqlStore } from './sql-store.js'
import type { DevnetStore } from './types.js'

const alice = testKey(1)
const genesis = genesisOf([alice.addressBytes, alice.addressBytes])
const clock = { now: () => Date.UTC(2025, 0, 2) }
const pglite = await PGlite.create()
const pool = new pg.Pool({
  connectionString: process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  connectionTimeoutMillis: 2_000,
  max: 2,
})
const postgres = await pool.query('SELECT 1').then(
  () => true,
  () => false,
)
if (!postgres) {
  const reason = 'no PostgreSQL at TEST_DATABASE_URL or on 127.0.0.1:5432'
  if (process.env.RATATOSK_REQUIRE_SERVICES === '1') throw new Error(reason)
  console.warn(`Skipped: ${reason}`)
}
const schemas: string[] = []
afterAll(async () => {
  await pglite.close()
  for (const schema of postgres ? schemas : []) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await pool.end()
})

function newSchema(): string {
  const schema = `devnet_test_${randomBytes(6).toString('hex')}`
  schemas.push(schema)
  return schema
}

const stores: Readonly<Record<string, () => DevnetStore>> = {
  memory: createMemoryStore,
  PGlite: () => createSqlStore({ connection: pglite, schema: newSchema() }),
  ...(postgres && { PostgreSQL: () => createSqlStore({ connection: pool, schema: newSchema() }) }),
}

const reopen = (store: DevnetStore, securityParameter = 2160): Promise<Devnet> =>
  createDevnet({ store, genesis, clock, blockEveryMs: 0, securityParameter })

function spend(input: string, lovelace: bigint) {
  return draft({
    inputs: [input],
    outputs: [{ address: alice.addressBytes, lovelace: lovelace - 200_000n }],
    fee: 200_000n,
    signers: [alice],
  })
}

function picture(devnet: Devnet) {
  return {
    tip: devnet.tip(),
    utxos: utxoSet(devnet),
    waiting: devnet.mempool().map(({ hash }) => hash),
    blocks: Array.from({ length: devnet.tip().height }, (_, i) => devnet.block(i + 1)?.hash),
  }
}

/** Lets a store's next write fail, before it has happened or after. */
function failing(store: DevnetStore, moment: 'before' | 'after') {
  const fault = { armed: false }
  const wrap =
    <A extends unknown[]>(write: (...parameters: A) => Promise<void>) =>
    async (...parameters: A): Promise<void> => {
      const { armed } = fault
      fault.armed = false
      if (armed && moment === 'before') throw new Error('the disk is gone')
      await write(...parameters)
      if (armed) throw new Error('the power is gone')
    }
  const wrapped: DevnetStore = {
    open: (hash) => store.open(hash),
    addTransaction: wrap(store.addTransaction),
    addBlock: wrap(store.addBlock),
    removeBlocks: wrap(store.removeBlocks),
  }
  return { store: wrapped, fault }
}

describe.each(Object.entries(stores))('kept in %s, a chain', (_name, createStore) => {
  it('is the same after a restart: blocks, what waits, roll-backs', async () => {
    const store = createStore()
    let devnet = await reopen(store)
    const one = spend(`${'11'.repeat(32)}#0`, 100_000_000n)
    const two = spend(`${one.hash}#0`, 99_800_000n)
    const three = spend(`${'11'.repeat(32)}#1`, 100_000_000n)
    const steps = [
      () => devnet.submit(one.cbor),
      () => devnet.produceBlock(),
      () => devnet.produceBlock(),
      () => devnet.submit(three.cbor),
      () => devnet.submit(two.cbor),
      () => devnet.produceBlock(),
      () => devnet.rollBack(1, { resubmit: true }),
      () => devnet.produceBlock(),
      () => devnet.rollBack(2),
      () => devnet.submit(two.cbor),
    ]
    for (const step of steps) {
      await step()
      const before = picture(devnet)
      await devnet.close()
      devnet = await reopen(store)
      expect(picture(devnet)).toEqual(before)
    }
    expect(devnet.mempool().map(({ hash }) => hash)).toEqual([two.hash])
    await devnet.close()
  })

  it.each(['before', 'after'] as const)('is whole after a death %s any write', async (moment) => {
    const one = spend(`${'11'.repeat(32)}#0`, 100_000_000n)
    const steps: ((devnet: Devnet) => Promise<unknown>)[] = [
      (devnet) => devnet.submit(one.cbor),
      (devnet) => devnet.produceBlock(),
      (devnet) => devnet.rollBack(1, { resubmit: true }),
      (devnet) => devnet.rollBack(1),
    ]
    const { store, fault } = failing(createStore(), moment)
    let devnet = await reopen(store)
    for (const step of steps.slice(0, 3)) {
      const before = picture(devnet)
      fault.armed = true
      await expect(step(devnet)).rejects.toThrow('is gone')
      expect(picture(devnet)).toEqual(before)
      await devnet.close()
      devnet = await reopen(store)
      if (moment === 'before') {
        expect(picture(devnet)).toEqual(before)
        await step(devnet)
      } else expect(picture(devnet)).not.toEqual(before)
    }
    expect(devnet.mempool().map(({ hash }) => hash)).toEqual([one.hash])
    await devnet.close()
  })

  it('forgets empty blocks that can no longer be undone, and no others', async () => {
    const store = createStore()
    const devnet = await reopen(store, 2)
    await devnet.submit(spend(`${'11'.repeat(32)}#0`, 100_000_000n).cbor)
    for (let i = 0; i < 5; i++) await devnet.produceBlock()
    const before = picture(devnet)
    expect(before.blocks.map((hash) => hash !== undefined)).toEqual([true, false, true, true, true])
    await devnet.close()
    const again = await reopen(store, 2)
    expect(picture(again)).toEqual(before)
    await again.rollBack(2)
    await again.close()
  })

  it('is not taken for one that began otherwise', async () => {
    const store = createStore()
    await (await reopen(store)).close()
    const other = createDevnet({ store, genesis: genesisOf([alice.addressBytes]), blockEveryMs: 0 })
    await expect(other).rejects.toMatchObject({ code: 'DEVNET_CONFIGURATION' })
  })

  it('is refused where a block is not what its hash says', async () => {
    const store = createStore()
    await store.open((await reopen(createMemoryStore())).genesisHash)
    const block = { height: 1, slot: 1n, hash: '00'.repeat(32), previous: '11'.repeat(32), transactions: [] }
    await store.addBlock(block, { dropped: [], forgotten: -1 })
    await expect(reopen(store)).rejects.toMatchObject({ code: 'DEVNET_STORE_CORRUPT' })
  })
})
