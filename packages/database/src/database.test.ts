import { runInNewContext } from 'node:vm'
import { createPGlite, databaseUrl, whyMissing } from '@ratatosk/test-kit'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Driver } from './connection.js'
import { watchDisk } from './disk.js'
import { toDatabaseError } from './driver-errors.js'
import { bytesColumn, parameterRows } from './parameters.js'
import { openPGlite } from './pglite.js'
import { openPostgres } from './postgres.js'

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

describe('parameters', async () => {
  const withoutPostgres = (await whyMissing('PostgreSQL')) !== undefined

  const row = fc.record({
    bytes: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
    number: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { nil: null }),
    text: fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes('\0')),
    date: fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
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
})
