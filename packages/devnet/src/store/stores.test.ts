import { fromHex } from '@ratatosk/cbor'
import { openPGlite, openPostgres } from '@ratatosk/database'
import { createPGlite, databaseUrl, inDatabase, randomName, whyMissing } from '@ratatosk/test-kit'
import { alice, aliceGenesis, draft, first, genesisOf, second } from '@ratatosk/test-kit/ledger-apis'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDevnet } from '../create-devnet.js'
import { defaultParameters } from '../genesis.js'
import { utxoSet } from '../test/scenes.js'
import type { Devnet } from '../types.js'
import { createSqlStore } from './sql-store.js'
import { createMemoryStore, type DevnetStore } from './store.js'

const clock = { now: () => Date.UTC(2025, 0, 2) }
const withoutPostgres = await whyMissing('PostgreSQL')

const pglite = await createPGlite()
const postgres = openPostgres({ url: databaseUrl, maxConnections: 2 })
const schemas: string[] = []
afterAll(async () => {
  await pglite.close()
  await postgres.close()
  for (const schema of schemas) await inDatabase(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
})

const stores: Readonly<Record<string, () => DevnetStore>> = {
  memory: createMemoryStore,
  PGlite: () => createSqlStore({ database: openPGlite(pglite), schema: randomName() }),
  PostgreSQL: () => {
    const schema = randomName()
    schemas.push(schema)
    return createSqlStore({ database: postgres, schema })
  },
}

const reopen = (store: DevnetStore, securityParameter = 2160): Promise<Devnet> =>
  createDevnet({ store, genesis: aliceGenesis, clock, blockEveryMs: 0, securityParameter })

function spend(input: string, lovelace: bigint) {
  return draft({
    inputs: [input],
    outputs: [{ address: alice.addressBytes, lovelace: lovelace - 200_000n }],
    fee: 200_000n,
    signers: [alice],
  })
}

/** The state that must survive a restart. */
function stateOf(devnet: Devnet) {
  return {
    tip: devnet.tip(),
    utxos: utxoSet(devnet),
    pending: devnet.mempool().map(({ hash }) => hash),
    blocks: Array.from({ length: devnet.tip().height }, (_, i) => devnet.block(i + 1)?.hash),
  }
}

/** A store whose next write fails while `fault.armed`, before or after it took effect. */
function breakable(store: DevnetStore, moment: 'before' | 'after') {
  const fault = { armed: false }
  const wrap =
    <A extends unknown[]>(write: (...parameters: A) => Promise<void>) =>
    async (...parameters: A): Promise<void> => {
      const { armed } = fault
      fault.armed = false
      if (armed && moment === 'before') throw new Error('write failed')
      await write(...parameters)
      if (armed) throw new Error('write failed')
    }
  const wrapped: DevnetStore = {
    open: (...begun) => store.open(...begun),
    addTransaction: wrap(store.addTransaction),
    addBlock: wrap(store.addBlock),
    removeBlocks: wrap(store.removeBlocks),
  }
  return { store: wrapped, fault }
}

describe.each(Object.entries(stores))('a chain in %s', (name, createStore) => {
  beforeEach((context) => {
    if (name === 'PostgreSQL' && withoutPostgres !== undefined) context.skip(withoutPostgres)
  })

  it('is the same after a restart: blocks, pending transactions and roll-backs', async () => {
    const store = createStore()
    let devnet = await reopen(store)
    const one = spend(first, 100_000_000n)
    const two = spend(`${one.hash}#0`, 99_800_000n)
    const three = spend(second, 100_000_000n)
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
      const before = stateOf(devnet)
      await devnet.close()
      devnet = await reopen(store)
      expect(stateOf(devnet)).toEqual(before)
    }
    expect(devnet.mempool().map(({ hash }) => hash)).toEqual([two.hash])
    await devnet.close()
  })

  it('has data of any depth, like layer 1', async () => {
    const inlineDatum = fromHex(`${'81'.repeat(10_000)}00`)
    const store = createStore()
    const devnet = await reopen(store)
    const deep = draft({
      inputs: [first],
      outputs: [{ address: alice.addressBytes, lovelace: 99_000_000n, inlineDatum }],
      fee: 1_000_000n,
      signers: [alice],
    })
    expect(await devnet.submit(deep.cbor)).toMatchObject({ kind: 'accepted' })
    await devnet.produceBlock()
    const before = stateOf(devnet)
    await devnet.close()
    const again = await reopen(store)
    expect(stateOf(again)).toEqual(before)
    expect(again.utxos({ references: [`${deep.hash}#0`] })[0]?.output.datum).toEqual({
      kind: 'inline',
      data: inlineDatum,
    })
    await again.close()
  })

  it.each(['before', 'after'] as const)('is consistent if the process dies %s a write', async (moment) => {
    const one = spend(first, 100_000_000n)
    const steps: ((devnet: Devnet) => Promise<unknown>)[] = [
      (devnet) => devnet.submit(one.cbor),
      (devnet) => devnet.produceBlock(),
      (devnet) => devnet.rollBack(1, { resubmit: true }),
    ]
    const { store, fault } = breakable(createStore(), moment)
    let devnet = await reopen(store)
    for (const step of steps) {
      const before = stateOf(devnet)
      fault.armed = true
      await expect(step(devnet)).rejects.toThrow('write failed')
      expect(stateOf(devnet)).toEqual(before)
      await devnet.close()
      devnet = await reopen(store)
      if (moment === 'before') {
        expect(stateOf(devnet)).toEqual(before)
        await step(devnet)
      } else expect(stateOf(devnet)).not.toEqual(before)
    }
    expect(devnet.mempool().map(({ hash }) => hash)).toEqual([one.hash])
    await devnet.close()
  })

  it('loses only empty blocks below the security parameter', async () => {
    const store = createStore()
    const devnet = await reopen(store, 2)
    await devnet.submit(spend(first, 100_000_000n).cbor)
    for (let i = 0; i < 5; i++) await devnet.produceBlock()
    const before = stateOf(devnet)
    expect(before.blocks.map((hash) => hash !== undefined)).toEqual([true, false, true, true, true])
    await devnet.close()
    const again = await reopen(store, 2)
    expect(stateOf(again)).toEqual(before)
    expect(await again.rollBack(2)).toMatchObject({ height: 3 })
    await again.close()
  })

  it('is rejected with a different genesis', async () => {
    const store = createStore()
    await (await reopen(store)).close()
    const other = createDevnet({ store, genesis: genesisOf([alice.addressBytes]), blockEveryMs: 0 })
    await expect(other).rejects.toMatchObject({ code: 'DEVNET_CONFIGURATION' })
  })

  it('keeps the ledger version with which it began', async () => {
    const options = { store: createStore(), genesis: aliceGenesis, clock, blockEveryMs: 0 }
    await (await createDevnet({ ...options, parameters: defaultParameters('10') })).close()
    const again = await createDevnet(options)
    expect(again.parameters).toEqual(defaultParameters('10'))
    await again.close()
    await expect(createDevnet({ ...options, parameters: defaultParameters('11') })).rejects.toMatchObject({
      code: 'DEVNET_CONFIGURATION',
      message: expect.stringContaining('began with ledger version 10'),
    })
    const other = await createDevnet({ ...options, store: createStore() })
    expect(other.parameters.ledgerVersion.major).toBe(11)
    await other.close()
  })

  it('is rejected if a block does not match its hash', async () => {
    const store = createStore()
    const devnet = await reopen(createMemoryStore())
    await devnet.close()
    await store.open(devnet.genesisHash, devnet.parameters.ledgerVersion.major)
    const block = { height: 1, slot: 1n, hash: '00'.repeat(32), previous: '11'.repeat(32), transactions: [] }
    await store.addBlock(block, { dropped: [], prunable: -1 })
    await expect(reopen(store)).rejects.toMatchObject({ code: 'DEVNET_STORE_CORRUPT' })
  })
})
