import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Mutex } from 'async-mutex'
import { expect, onTestFinished, test } from 'vitest'
import { createSubmissionQueue, openQueueBackend } from '../index.js'
import { waiting } from '../test/backends.js'
import type { PGliteInstance } from '../types.js'
import { PGlitePool, vacuum } from './pglite.js'

function openPglite(directory?: string): PGlite {
  const pglite = new PGlite(directory)
  onTestFinished(async () => {
    if (!pglite.closed) await pglite.close()
  })
  return pglite
}

test('jobs in a directory survive a restart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-queue-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const first = openPglite(directory)
  const before = await openQueueBackend({ kind: 'pglite', pglite: first })
  const id = await createSubmissionQueue(before).add(Buffer.from('83', 'hex'))
  await before.close()
  await first.close()
  const after = await openQueueBackend({ kind: 'pglite', pglite: openPglite(directory) })
  expect(await createSubmissionQueue(after).find(id)).toMatchObject({ cbor: Uint8Array.of(0x83) })
  await after.close()
})

test('the PGlite instance stays open and finds the same tables as before', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE ledger (id int)')
  const backend = await openQueueBackend({ kind: 'pglite', pglite })
  await pglite.exec('CREATE TABLE later (id int)')
  await backend.close()
  const { rows } = await pglite.query(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  )
  expect(rows).toEqual([{ tablename: 'later' }, { tablename: 'ledger' }])
})

test('refuses to start when another table hides one of the queue, and names it', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE event (id int)')
  await expect(openQueueBackend({ kind: 'pglite', pglite })).rejects.toMatchObject({
    code: 'QUEUE_SCHEMA_CONFLICT',
    message: expect.stringMatching(/: event\./),
  })
})

test('refuses a schema that is not a plain identifier', async () => {
  const pglite = openPglite()
  await expect(openQueueBackend({ kind: 'pglite', pglite, schema: 'a"; DROP' })).rejects.toMatchObject({
    code: 'QUEUE_CONFIGURATION',
  })
})

test('a transaction of a client has exclusive use of the instance', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE t (n int)')
  const pool = new PGlitePool(pglite, new Mutex(), 0)
  const client = await pool.connect()
  await client.query('-- a comment\nBEGIN')
  await client.query('INSERT INTO t VALUES ($1)', [1])
  const order: string[] = []
  const others = [
    pool
      .query('SELECT count(*)::int AS n FROM t')
      .then(({ rows }) => order.push(`query ${JSON.stringify(rows)}`)),
    pglite.transaction(async (other) => {
      const { rows } = await other.query('SELECT count(*)::int AS n FROM t')
      order.push(`transaction ${JSON.stringify(rows)}`)
    }),
  ]
  await client.query('INSERT INTO t VALUES ($1)', [2])
  order.push('commit')
  await client.query('COMMIT')
  await Promise.all(others)
  expect(order[0]).toBe('commit')
  expect(order.slice(1).sort()).toEqual(['query [{"n":2}]', 'transaction [{"n":2}]'])
  await pool.end()
})

test('a rollback and the release of a client during a transaction undo its writes', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE t (n int)')
  const pool = new PGlitePool(pglite, new Mutex(), 0)
  const rolledBack = await pool.connect()
  await rolledBack.query('BEGIN')
  await rolledBack.query('INSERT INTO t VALUES (1)')
  await expect(rolledBack.query('SELECT * FROM nowhere')).rejects.toMatchObject({ code: '42P01' })
  await rolledBack.query('ROLLBACK')
  const released = await pool.connect()
  await released.query('BEGIN')
  await released.query('INSERT INTO t VALUES (2)')
  released.release()
  expect((await pool.query('SELECT * FROM t')).rows).toEqual([])
  await pool.end()
})

test('queries run one at a time: those of higher priority first, then in order of arrival', async () => {
  const order: string[] = []
  let running = 0
  const query = async (sql: string) => {
    expect(++running).toBe(1)
    await new Promise(setImmediate)
    running--
    order.push(sql)
    if (sql === 'b') throw new Error('refused')
    return { rows: [] }
  }
  const pglite = { query, exec: async (sql: string) => [await query(sql)] } as unknown as PGliteInstance
  const mutex = new Mutex()
  const [workers, producers] = [new PGlitePool(pglite, mutex, 0), new PGlitePool(pglite, mutex, 1)]
  const settled = await Promise.allSettled([
    ...['a', 'b', 'c'].map((sql) => workers.query(sql)),
    ...['x', 'y'].map((sql) => producers.query(sql)),
  ])
  expect(order).toEqual(['a', 'x', 'y', 'b', 'c'])
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  await workers.query('later')
  expect(order.at(-1)).toBe('later')
})

test('adding transactions does not block the SQL transactions of another user of the instance', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE ledger (n int)')
  const backend = await openQueueBackend({ kind: 'pglite', pglite })
  const submissions = createSubmissionQueue(backend)
  const work = Array.from({ length: 50 }, async (_, n) => {
    await pglite.transaction(async (transaction) => {
      await transaction.query('INSERT INTO ledger VALUES ($1)', [n])
      await new Promise(setImmediate)
      await transaction.query('INSERT INTO ledger VALUES ($1)', [n])
    })
    await submissions.add(Buffer.of(n))
  })
  await Promise.all(work)
  expect(await waiting(submissions)).toHaveLength(50)
  await backend.close()
})

test('the space of finished jobs is reused', async () => {
  const pglite = openPglite()
  const backend = await openQueueBackend({ kind: 'pglite', pglite })
  const { jobs } = createSubmissionQueue(backend)
  const size = async () => {
    const { rows } = await pglite.query<{ size: number }>(
      "SELECT pg_relation_size('ratatosk_queue.job')::int AS size",
    )
    return rows[0]!.size
  }
  const transaction = { id: 'x', attempts: 0, cbor: 'x'.repeat(400) }
  const pass = async () => {
    await jobs.addBulk(Array.from({ length: 300 }, () => ({ name: 'job', data: [transaction] })))
    await jobs.drain()
    // PostgreSQL otherwise updates its count of dead rows once a second.
    await pglite.query('SELECT pg_stat_force_next_flush()')
    await vacuum(new PGlitePool(pglite, new Mutex(), 0), 'ratatosk_queue', 100)
  }
  await pass()
  const once = await size()
  for (let n = 0; n < 3; n++) await pass()
  expect(await size()).toBeLessThanOrEqual(once * 1.5)
  await backend.close()
})
