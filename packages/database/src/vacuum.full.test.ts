import type { PGlite } from '@electric-sql/pglite'
import { createPGlite } from '@ratatosk/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPGlite } from './pglite.js'
import { createVacuum } from './vacuum.js'

describe('the vacuum of a PGlite', () => {
  let pglite: PGlite
  const rows = 4_000

  beforeAll(async () => {
    pglite = await createPGlite()
    await pglite.exec('CREATE SCHEMA own; CREATE SCHEMA other; CREATE SCHEMA neglected')
  }, 120_000)

  afterAll(() => pglite.close())

  beforeEach(() => pglite.exec('DROP TABLE IF EXISTS own.t, own.u, other.t, neglected.t'))

  const create = async (...tables: string[]) => {
    for (const table of tables)
      await pglite.exec(`CREATE TABLE ${table} (n integer PRIMARY KEY, bytes bytea)`)
  }

  /** Adds rows and deletes them, so that so many are dead. */
  async function pass(table: string, count = rows) {
    await pglite.exec(
      `INSERT INTO ${table} SELECT n, decode(repeat('ab', 200), 'hex')
        FROM generate_series(1, ${count}) AS n`,
    )
    await pglite.exec(`DELETE FROM ${table}`)
    await counted()
  }

  /** PostgreSQL otherwise updates its counts once a second. */
  const counted = () => pglite.query('SELECT pg_stat_force_next_flush()')

  async function deadIn(table: string) {
    await counted()
    const { rows } = await pglite.query<{ dead: number }>(
      'SELECT n_dead_tup::integer AS dead FROM pg_stat_user_tables WHERE relid = $1::regclass',
      [table],
    )
    return rows[0]?.dead
  }

  async function sizeOf(table: string) {
    const { rows } = await pglite.query<{ size: number }>(
      `SELECT pg_total_relation_size('${table}')::integer AS size`,
    )
    return rows[0]?.size ?? 0
  }

  it('removes dead rows once the tables are quiet, one table at a time, only in its schemas', async () => {
    await create('own.t', 'own.u', 'other.t', 'neglected.t')
    const vacuum = createVacuum(openPGlite(pglite), ['own', 'other'])
    await pass('own.t', 3_000)
    await pass('own.u', 2_000)
    await pass('other.t', 1_500)
    await pass('neglected.t')
    expect(await vacuum.poll()).toBeUndefined()
    expect(await vacuum.poll()).toBe('own.t')
    expect([await deadIn('own.t'), await deadIn('own.u')]).toEqual([0, 2_000])
    expect(await vacuum.poll()).toBe('own.u')
    expect(await vacuum.poll()).toBe('other.t')
    expect(await vacuum.poll()).toBeUndefined()
    expect([await deadIn('own.u'), await deadIn('other.t'), await deadIn('neglected.t')]).toEqual([
      0,
      0,
      rows,
    ])
  })

  it('waits for more dead rows while the tables change', async () => {
    await create('own.t', 'own.u')
    const vacuum = createVacuum(openPGlite(pglite), ['own'])
    await vacuum.poll()
    await pass('own.t')
    expect(await vacuum.poll()).toBeUndefined()
    await pass('own.u', 10_001)
    expect(await vacuum.poll()).toBe('own.u')
    expect([await deadIn('own.t'), await deadIn('own.u')]).toEqual([rows, 0])
  })

  it('keeps a table through which rows pass from growing', async () => {
    await create('own.t', 'neglected.t')
    const vacuum = createVacuum(openPGlite(pglite), ['own'])
    await vacuum.poll()
    const sizes = { own: [] as number[], neglected: [] as number[] }
    for (let n = 0; n < 6; n++) {
      await pass('own.t')
      await pass('neglected.t')
      await vacuum.poll()
      await vacuum.poll()
      sizes.own.push(await sizeOf('own.t'))
      sizes.neglected.push(await sizeOf('neglected.t'))
    }
    expect(await deadIn('own.t')).toBe(0)
    expect(await deadIn('neglected.t')).toBe(6 * rows)
    expect(sizes.neglected.at(-1)).toBeGreaterThan(5 * sizes.neglected[0]!)
    expect(sizes.own.at(-1)).toBeLessThanOrEqual(sizes.own[1]!)
    expect(sizes.own.at(-1)).toBeLessThan(sizes.neglected.at(-1)! / 4)
  })
})
