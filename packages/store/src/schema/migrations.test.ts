import { readFile } from 'node:fs/promises'
import { collect } from '@ratatosk/test-kit'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { describe, expect, it } from 'vitest'
import { openStore } from '../open-store.js'
import { describeEveryBackend } from '../test/backends.js'
import { idOf } from '../test/samples.js'
import * as faucetTables from './faucet-tables.js'
import * as tables from './tables.js'
import * as verdictTables from './verdict-tables.js'

describeEveryBackend('migrations', (backend) => {
  it('are applied once by stores that open at the same time', async () => {
    const test = await backend.create()
    try {
      await Promise.all([test.another(), test.another(), test.another()])
      const rows = await test.database.query(`SELECT * FROM ${test.schema}.migrations`)
      const journal = JSON.parse(
        await readFile(new URL('../../migrations/meta/_journal.json', import.meta.url), 'utf8'),
      )
      expect(rows).toHaveLength(journal.entries.length)
    } finally {
      await test.drop()
    }
  })

  it('keep schemas apart', async () => {
    const [one, two] = [await backend.create(), await backend.create()]
    try {
      const wallet = { address: Uint8Array.of(0x60) }
      await one.store.applyGenesis([
        { reference: { transactionId: idOf('a'), index: 0 }, output: Uint8Array.of(1), ...wallet },
      ])
      expect(await collect(two.store.utxoPages(wallet.address))).toEqual([])
      expect(await collect(one.store.utxoPages(wallet.address))).toHaveLength(1)
    } finally {
      await Promise.all([one.drop(), two.drop()])
    }
  })

  it('refuse a schema that a newer or different version has migrated', async () => {
    const test = await backend.create()
    try {
      await test.database.query(`INSERT INTO ${test.schema}.migrations (hash) VALUES ('of tomorrow')`)
      await expect(test.another()).rejects.toMatchObject({ code: 'STORE_SCHEMA_MISMATCH' })
      await test.database.query(`DELETE FROM ${test.schema}.migrations`)
      await test.database.query(`INSERT INTO ${test.schema}.migrations (hash) VALUES ('of another')`)
      await expect(test.another()).rejects.toMatchObject({ code: 'STORE_SCHEMA_MISMATCH' })
    } finally {
      await test.drop()
    }
  })
})

describe('the committed migrations', () => {
  it('match the tables', async () => {
    const journal = JSON.parse(
      await readFile(new URL('../../migrations/meta/_journal.json', import.meta.url), 'utf8'),
    )
    const last = String(journal.entries.at(-1).idx).padStart(4, '0')
    const snapshot = JSON.parse(
      await readFile(new URL(`../../migrations/meta/${last}_snapshot.json`, import.meta.url), 'utf8'),
    )
    const every = {
      ...tables,
      ...faucetTables,
      ...verdictTables,
    }
    expect(await generateMigration(snapshot, generateDrizzleJson(every, snapshot.id))).toEqual([])
  })
})

describe('a schema name', () => {
  it.each(['', 'A', 'a-b', 'a"b', '1a', 'pg_mine', 'a'.repeat(64), 'ä', 'a b'])(
    'cannot be %j',
    async (schema) => {
      const opening = openStore({ url: 'postgres://127.0.0.1:1/none', schema })
      await expect(opening).rejects.toMatchObject({ code: 'STORE_CONFIGURATION' })
    },
  )
})
