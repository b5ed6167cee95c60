import { readFile } from 'node:fs/promises'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { describe, expect, it } from 'vitest'
import { openStore } from '../open-store.js'
import { backends } from '../test/backends.js'
import { idOf } from '../test/transactions.js'
import * as tables from './tables.js'

describe.each(backends)('migrations on $name', (backend) => {
  describe.skipIf(backend.missing !== undefined)('are', () => {
    it('applied once, also by many who open at the same time', async () => {
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

    it('kept apart by schema', async () => {
      const [one, two] = [await backend.create(), await backend.create()]
      try {
        const wallet = { address: Uint8Array.of(0x60) }
        await one.store.applyGenesis([
          { reference: { transactionId: idOf('a'), index: 0 }, output: Uint8Array.of(1), ...wallet },
        ])
        expect(await two.store.utxosAt(wallet.address)).toEqual([])
        expect(await one.store.utxosAt(wallet.address)).toHaveLength(1)
      } finally {
        await Promise.all([one.drop(), two.drop()])
      }
    })

    it('refused where a newer or a different version has migrated', async () => {
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
})

describe('the migrations that are checked in', () => {
  it('make the schema that the code declares', async () => {
    const journal = JSON.parse(
      await readFile(new URL('../../migrations/meta/_journal.json', import.meta.url), 'utf8'),
    )
    const last = String(journal.entries.at(-1).idx).padStart(4, '0')
    const snapshot = JSON.parse(
      await readFile(new URL(`../../migrations/meta/${last}_snapshot.json`, import.meta.url), 'utf8'),
    )
    expect(await generateMigration(snapshot, generateDrizzleJson(tables, snapshot.id))).toEqual([])
  })
})

describe('the name of a schema', () => {
  it.each(['', 'A', 'a-b', 'a"b', '1a', 'pg_mine', 'a'.repeat(64), 'ä', 'a b'])(
    'is not %j',
    async (schema) => {
      const opening = openStore({ url: 'postgres://127.0.0.1:1/none', schema })
      await expect(opening).rejects.toMatchObject({ code: 'STORE_CONFIGURATION' })
    },
  )
})
