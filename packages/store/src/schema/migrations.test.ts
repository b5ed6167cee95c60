import { readFile } from 'node:fs/promises'
import { inSchema, migrate } from '@ratatosk/database'
import { collect } from '@ratatosk/test-kit'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { describe, expect, it } from 'vitest'
import { openStore } from '../open-store.js'
import { describeEveryBackend } from '../test/backends.js'
import { expectExactUsage, newRejection } from '../test/rejections.js'
import { idOf } from '../test/transactions.js'
import { ratatosk } from './columns.js'
import * as faucetTables from './faucet-tables.js'
import * as keptTables from './kept-tables.js'
import { storeMigrations } from './migrations.js'
import * as rejectionTables from './rejection-tables.js'
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

  it('keep the dead letters of an older version, one for the same bytes', async () => {
    const test = await backend.create()
    const schema = `"${test.schema}"`
    try {
      await test.database.query(`DROP SCHEMA ${schema} CASCADE`)
      await migrate(inSchema(test.driver, schema), storeMigrations().slice(0, 6))
      const insert = `INSERT INTO ${schema}.rejections
        (submission_id, transaction_id, cbor, attempts, code, message, details, submitted_at, rejected_at)
        VALUES ($1, $2, $3, 1, 'FeeTooSmallUTxO', $4, $5::json, now(), $6::timestamptz)`
      const long = JSON.stringify({ trace: 'x'.repeat(5_000) })
      await test.database.query(insert, ['1', idOf('t'), idOf('a'), 'first', '{}', '2026-01-01T00:00:00Z'])
      await test.database.query(insert, ['2', idOf('t'), idOf('b'), 'other', long, '2026-01-02T00:00:00Z'])
      await test.database.query(insert, ['3', idOf('t'), idOf('a'), 'second', '{}', '2026-01-03T00:00:00Z'])

      const { rejections } = await test.another()
      const letter = { submissionId: '3', message: 'second', count: 2, cbor: idOf('a'), cborBytes: 32 }
      expect(await rejections.find('1')).toMatchObject({
        ...letter,
        firstRejectedAt: new Date('2026-01-01T00:00:00Z'),
        rejectedAt: new Date('2026-01-03T00:00:00Z'),
      })
      expect(await rejections.find('3')).toMatchObject(letter)
      expect(await rejections.find('2')).toMatchObject({ details: { truncated: true, bytes: long.length } })
      expect((await rejections.list()).map(({ submissionId }) => submissionId)).toEqual(['3', '2'])
      await expectExactUsage(test)

      await rejections.add([{ ...newRejection('4'), cbor: idOf('b') }])
      expect((await rejections.list()).map(({ submissionId }) => submissionId)).toEqual(['4', '3'])
      await expectExactUsage(test)
    } finally {
      await test.drop()
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
      ratatosk,
      ...tables,
      ...rejectionTables,
      ...faucetTables,
      ...verdictTables,
      ...keptTables,
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
