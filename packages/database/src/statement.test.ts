import { createPGlite, databaseUrl, randomName, whyMissing } from '@ratatosk/test-kit'
import { bigint, pgSchema, text, timestamp } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { type Database, type Driver, inSchema } from './connection.js'
import { openPGlite } from './pglite.js'
import { openPostgres } from './postgres.js'
import { schema, sql } from './sql.js'
import { bytea, int4, int8, nullable, type Row, selectList, statement } from './statement.js'

const withoutPostgres = (await whyMissing('PostgreSQL')) !== undefined

const leases = pgSchema('ratatosk').table('leases', {
  name: text().primaryKey(),
  token: bigint({ mode: 'bigint' }).notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
})

type Opener = readonly [name: string, missing: boolean, open: () => Promise<Driver>]
/** The full run compares it. */
const embedded: readonly Opener[] =
  process.env.RATATOSK_STORES === 'all'
    ? [['PGlite', false, async () => openPGlite(await createPGlite())]]
    : []
const drivers: readonly Opener[] = [
  ['PostgreSQL', withoutPostgres, async () => openPostgres({ url: databaseUrl })],
  ...embedded,
]

describe.each(drivers)('statements on %s', (_, missing, open) => {
  describe.skipIf(missing)('of a schema', () => {
    const name = randomName()
    let driver: Driver
    let database: Database

    beforeAll(async () => {
      driver = await open()
      database = inSchema(driver, `"${name}"`)
      await database.execute(sql`CREATE SCHEMA "${name}"`)
      await database.execute(sql`CREATE TYPE ${schema}.state AS ENUM ('built')`)
      await database.execute(
        sql`CREATE TABLE ${schema}.leases (name text PRIMARY KEY, token bigint, expires_at timestamptz)`,
      )
    })

    afterAll(async () => {
      await database.execute(sql`DROP SCHEMA "${name}" CASCADE`)
      await driver.close()
    })

    it('return rows as the tables declare them', async () => {
      const { name, token, expiresAt } = leases
      const row = { name, token, expiresAt }
      await database.execute(sql`INSERT INTO ${schema}.leases VALUES ('job', 1, now())`)
      const [lease] = await database.query(
        statement(row, sql`SELECT ${selectList(row)} FROM ${schema}.leases WHERE name = $1`),
        ['job'],
      )
      expect(lease).toEqual({ name: 'job', token: 1n, expiresAt: expect.any(Date) })
      expectTypeOf<Row<typeof row>>().toEqualTypeOf<{
        readonly name: string
        readonly token: bigint
        readonly expiresAt: Date
      }>()
    })

    it.each([
      ['a column of another type', { count: int8 }, sql`SELECT 1 AS count`],
      ['a column of another name', { count: int4 }, sql`SELECT 1 AS number`],
      ['a missing column', { count: int4, first: nullable(int8) }, sql`SELECT 1 AS count`],
      ['an additional column', { count: int4 }, sql`SELECT 1 AS count, 2 AS more`],
      ['a built-in type instead of an enumeration', { state: bytea }, sql`SELECT 'built' AS state`],
    ])('are refused with %s', async (_, shape, text) => {
      await expect(database.query(statement(shape, text))).rejects.toMatchObject({ code: 'DATABASE_FAILED' })
    })

    it('count the rows that they change', async () => {
      const insert = sql`INSERT INTO ${schema}.leases (name, token, expires_at)
        VALUES ('a', 1, now()), ('b', 1, now())`
      expect(await database.execute(insert)).toBe(2)
      expect(
        await database.execute(sql`UPDATE ${schema}.leases SET token = 2 WHERE token = 1 AND name <> 'job'`),
      ).toBe(2)
      expect(await database.execute(sql`DELETE FROM ${schema}.leases WHERE name = 'a'`)).toBe(1)
      expect(await database.execute(sql`DELETE FROM ${schema}.leases WHERE name = 'a'`)).toBe(0)
    })

    it('qualify columns with a table alias', () => {
      const { token, expiresAt } = leases
      expect(selectList({ token, until: expiresAt }, 'm')).toBe('m.token, m.expires_at AS "until"')
    })
  })
})
