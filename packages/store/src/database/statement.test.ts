import { afterEach, beforeEach, expect, expectTypeOf, it } from 'vitest'
import { leases, mempoolTransactions } from '../schema/tables.js'
import { describeEveryBackend, type TestStore } from '../test/backends.js'
import { type Database, inSchema } from './connection.js'
import { bytea, int4, int8, nullable, type Row, selectList, statement } from './statement.js'

describeEveryBackend('statements', (backend) => {
  let test: TestStore
  let database: Database

  beforeEach(async () => {
    test = await backend.create()
    database = inSchema(test.driver, `"${test.schema}"`)
  })

  afterEach(() => test.drop())

  it('return rows as the tables declare them', async () => {
    const { name, token, expiresAt } = leases
    const row = { name, token, expiresAt }
    await test.store.leases.acquire('job', 'holder', 60_000)
    const [lease] = await database.query(
      statement(row, `SELECT ${selectList(row)} FROM ratatosk.leases WHERE name = $1`),
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
    ['a column of another type', { count: int8 }, 'SELECT 1 AS count'],
    ['a column of another name', { count: int4 }, 'SELECT 1 AS number'],
    ['a missing column', { count: int4, first: nullable(int8) }, 'SELECT 1 AS count'],
    ['an additional column', { count: int4 }, 'SELECT 1 AS count, 2 AS more'],
    ['a built-in type instead of an enumeration', { state: bytea }, `SELECT 'built' AS state`],
  ])('are refused with %s', async (_, shape, text) => {
    await expect(database.query(statement(shape, text))).rejects.toMatchObject({ code: 'STORE_FAILED' })
  })

  it('count the rows that they change', async () => {
    const insert = `INSERT INTO ratatosk.leases (name, holder, token, expires_at) VALUES ('a', 'x', 1, now()), ('b', 'x', 1, now())`
    expect(await database.execute(insert)).toBe(2)
    expect(await database.execute('UPDATE ratatosk.leases SET token = 2')).toBe(2)
    expect(await database.execute(`DELETE FROM ratatosk.leases WHERE name = 'a'`)).toBe(1)
    expect(await database.execute(`DELETE FROM ratatosk.leases WHERE name = 'a'`)).toBe(0)
  })

  it('qualify columns with a table alias', () => {
    const { sequence, transactionId } = mempoolTransactions
    expect(selectList({ sequence, id: transactionId }, 'm')).toBe('m.sequence, m.transaction_id AS "id"')
  })
})
