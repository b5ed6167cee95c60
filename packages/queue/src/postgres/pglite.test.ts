import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { expect, onTestFinished, test } from 'vitest'
import { createSubmissionQueue, openQueueBackend } from '../index.js'
import { PGlitePool } from './pglite-pool.js'
import { Turns } from './turns.js'
import { vacuum } from './vacuum.js'

function openPglite(directory?: string): PGlite {
  const pglite = new PGlite(directory)
  onTestFinished(async () => {
    if (!pglite.closed) await pglite.close()
  })
  return pglite
}

test('jobs survive in a directory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-queue-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const first = openPglite(directory)
  const before = await openQueueBackend({ kind: 'pglite', pglite: first })
  const id = await createSubmissionQueue(before).add(Buffer.from('83', 'hex'))
  await before.close()
  await first.close()
  const after = await openQueueBackend({ kind: 'pglite', pglite: openPglite(directory) })
  expect((await createSubmissionQueue(after).jobs.getJob(id))?.data).toBe('gw==')
  await after.close()
})

test('the instance stays open and finds the same tables as before', async () => {
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

test('a table that would hide one of the queue is refused by name', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE event (id int)')
  await expect(openQueueBackend({ kind: 'pglite', pglite })).rejects.toMatchObject({
    code: 'QUEUE_SCHEMA_CONFLICT',
    message: expect.stringMatching(/: event$/),
  })
})

test('a schema that is no plain identifier is refused', async () => {
  const pglite = openPglite()
  await expect(openQueueBackend({ kind: 'pglite', pglite, schema: 'a"; DROP' })).rejects.toMatchObject({
    code: 'QUEUE_CONFIGURATION',
  })
})

test('a transaction of a client holds the instance alone, and others wait for it', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE t (n int)')
  const pool = new PGlitePool(pglite, new Turns(), false)
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

test('a rollback, and the release of a client in the middle of a transaction, leave nothing behind', async () => {
  const pglite = openPglite()
  await pglite.exec('CREATE TABLE t (n int)')
  const pool = new PGlitePool(pglite, new Turns(), false)
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

test('submissions and the transactions of another user of the instance do not block each other', async () => {
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
  expect(await submissions.jobs.getWaitingCount()).toBe(50)
  await backend.close()
})

test('the space of finished jobs is used again', async () => {
  const pglite = openPglite()
  const backend = await openQueueBackend({ kind: 'pglite', pglite })
  const { jobs } = createSubmissionQueue(backend)
  const size = async () => {
    const { rows } = await pglite.query<{ size: number }>(
      "SELECT pg_relation_size('ratatosk_queue.job')::int AS size",
    )
    return rows[0]!.size
  }
  const pass = async () => {
    await jobs.addBulk(Array.from({ length: 300 }, () => ({ name: 'job', data: 'x'.repeat(400) })))
    await jobs.drain()
    // Otherwise PostgreSQL counts dead rows once a second.
    await pglite.query('SELECT pg_stat_force_next_flush()')
    await vacuum(new PGlitePool(pglite, new Turns(), false), 'ratatosk_queue', 100)
  }
  await pass()
  const once = await size()
  for (let n = 0; n < 3; n++) await pass()
  expect(await size()).toBeLessThanOrEqual(once * 1.5)
  await backend.close()
})
