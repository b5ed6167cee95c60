import { channel } from 'node:diagnostics_channel'
import { runInNewContext } from 'node:vm'
import { createPGlite, databaseUrl, randomName, whyMissing } from '@ratatosk/test-kit'
import { bigint, pgSchema, text, timestamp } from 'drizzle-orm/pg-core'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, onTestFinished, test, vi } from 'vitest'
import { type Database, type Driver, inSchema } from './connection.js'
import { toDatabaseError, watchDisk } from './errors.js'
import { bytesColumn, parameterRows } from './parameters.js'
import { openPGlite, type PGliteLike } from './pglite.js'
import { openPostgres } from './postgres.js'
import { schema, sql } from './sql.js'
import { bytea, int4, int8, nullable, type Row, selectList, statement } from './statement.js'

const withoutPostgres = (await whyMissing('PostgreSQL')) !== undefined

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

describe('disk', () => {
  const full = toDatabaseError(Object.assign(new Error('could not extend file'), { code: '53100' }))

  it('names a full disk', () => {
    expect(full).toMatchObject({ code: 'DATABASE_UNAVAILABLE', sqlState: '53100', retryable: true })
    expect(full.message).toMatch(/^No space is left on the disk of the database \(53100\)/)
  })

  it('knows a system error of another realm, as test runners make them', () => {
    const foreign = runInNewContext("Object.assign(new Error('x'), { code: 'ECONNREFUSED' })")
    expect(toDatabaseError(foreign).code).toBe('DATABASE_UNAVAILABLE')
  })

  it.each([
    ['as the server reports it', full],
    ['as the cause of a cause', new Error('not added', { cause: new Error('failed', { cause: full }) })],
    ['of another realm', runInNewContext("Object.assign(new Error('write'), { code: 'ENOSPC' })")],
    ['as the system reports it', Object.assign(new Error('write'), { code: 'ENOSPC' })],
  ])('tries a write after one that met a full disk, %s, until one succeeds', async (_how, failure) => {
    const disk = watchDisk()
    const statements: string[] = []
    let error: Error | undefined = full
    const check = () =>
      disk.check(async (text) => {
        statements.push(text)
        if (error !== undefined) throw error
      })
    await check()
    disk.failed(new Error('another failure'))
    await check()
    expect(statements).toEqual([])

    disk.failed(failure)
    await expect(check()).rejects.toBe(full)
    await expect(check()).rejects.toBe(full)
    error = undefined
    await check()
    expect(statements.splice(0)).toHaveLength(3)
    await check()
    expect(statements).toEqual([])
  })

  it('is not stuck where the write is not allowed', async () => {
    const disk = watchDisk()
    disk.failed(full)
    const lost = Object.assign(new Error('terminated'), { retryable: true })
    await expect(disk.check(() => Promise.reject(lost))).rejects.toBe(lost)
    await disk.check(() => Promise.reject(new Error('permission denied')))
    await disk.check(() => expect.fail('not tried again'))
  })
})

const row = fc.record({
  bytes: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
  number: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { nil: null }),
  text: fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes('\0')),
  date: fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
})

describe.each(drivers)('parameters on %s', (_, missing, open) => {
  describe.skipIf(missing)('arrive', () => {
    let driver: Driver

    beforeAll(async () => {
      driver = await open()
    })

    afterAll(() => driver.close())

    it('arrive unchanged as columns', async () => {
      const columns = { bytes: 'bytea', number: 'integer', text: 'text', date: 'timestamptz' } as const
      const statement = `SELECT bytes, number, text, date, position
      FROM ${parameterRows(columns, 2)} AS r WHERE $1 = 1 ORDER BY position`
      await fc.assert(
        fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
          const { rows: received } = await driver.run(statement, [
            1,
            bytesColumn(rows.map(({ bytes }) => bytes)),
            rows.map(({ number }) => number),
            rows.map(({ text }) => text),
            rows.map(({ date }) => date),
          ])
          const sent = rows.map(({ bytes = null, ...others }, before) => ({
            ...others,
            bytes,
            position: before + 1,
          }))
          expect(received).toEqual(sent)
        }),
      )
    })

    it('arrive unchanged as single values', async () => {
      const {
        rows: [received],
      } = await driver.run(
        `SELECT $1::bytea AS bytes, $2::bigint AS big, $3::text AS text, $4::integer AS number,
        $5::bytea AS empty`,
        [Uint8Array.of(0, 92, 255), 2n ** 60n, `\\x"'{}`, -1, new Uint8Array()],
      )
      expect(received).toEqual({
        bytes: Uint8Array.of(0, 92, 255),
        big: 2n ** 60n,
        text: `\\x"'{}`,
        number: -1,
        empty: new Uint8Array(),
      })
    })
  })
})

test('clients that connect in every turn do not slow all queries', async () => {
  let now = 5_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const connections = channel('net.server.socket')
  let turns = 0
  let connecting = true
  // A client connects in each turn of the event loop, which takes a millisecond.
  const turn = () => {
    now++
    turns++
    connections.publish({})
    if (connecting) setImmediate(turn)
  }
  setImmediate(turn)
  onTestFinished(() => {
    connecting = false
    vi.restoreAllMocks()
  })
  const pglite: PGliteLike = {
    _runExclusiveQuery: (query) => query(),
    query: () => pglite._runExclusiveQuery!(async () => ({ rows: [], fields: [] })),
    transaction: () => Promise.reject(new Error('not in this test')),
  }
  const driver = openPGlite(pglite)
  let queries = 0
  for (const end = now + 10_000; now < end; queries++) {
    now += 11
    await driver.run('SELECT 1', [])
  }
  expect(turns, 'it waits for clients').toBeGreaterThan(queries)
  expect(turns, 'at most 200 ms in each second, beside one turn for each query').toBeLessThan(queries + 2_300)
})

const leases = pgSchema('ratatosk').table('leases', {
  name: text().primaryKey(),
  token: bigint({ mode: 'bigint' }).notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
})

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
