import { inspect } from 'node:util'
import { databaseUrl, inDatabase, randomName } from '@ratatosk/test-kit'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openQueueBackend } from '../index.js'
import { openers } from '../test/backends.js'
import { postgresListener } from './postgres.js'

test('the error about an unreachable PostgreSQL does not contain its address', async () => {
  const url = 'postgres://somebody:opensesame@127.0.0.1:1/queue'
  const error = await openQueueBackend({ kind: 'postgres', url, requestTimeoutMs: 300 }).catch(
    (e: unknown) => e,
  )
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('opensesame')
})

test.each(['', 'localhost', 'mysql://:opensesame@localhost', '//:opensesame@localhost'])(
  'refuses the address %j',
  async (url) => {
    const error = await openQueueBackend({ kind: 'postgres', url }).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'QUEUE_CONFIGURATION' })
    expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
  },
)

test('refuses a database that does not exist, and says which option to check', async () => {
  const url = new URL(databaseUrl)
  url.pathname = '/ratatosk_no_such_database'
  await expect(openQueueBackend({ kind: 'postgres', url: url.href })).rejects.toMatchObject({
    code: 'QUEUE_CONFIGURATION',
    message: 'PostgreSQL refuses the user or has no such database: check the url',
  })
})

test('refuses a schema that is not a plain identifier', async () => {
  await expect(
    openQueueBackend({ kind: 'postgres', url: databaseUrl, schema: 'a"; DROP' }),
  ).rejects.toMatchObject({ code: 'QUEUE_CONFIGURATION' })
})

test('stores jobs uncompressed', async (context) => {
  const schema = randomName()
  const open = () => openQueueBackend({ kind: 'postgres', url: databaseUrl, schema })
  const backend = await open()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  context.onTestFinished(async () => {
    await Promise.all([backend.close(), client.end()])
    await inDatabase(`DROP SCHEMA ${schema} CASCADE`)
  })
  await (await open()).close()
  await backend.queue<string>('letters').add('letter', 'x'.repeat(10_000))
  const { rows } = await client.query(`SELECT pg_column_size(data) AS bytes FROM ${schema}.job`)
  expect(rows[0].bytes).toBeGreaterThan(10_000)
})

test('subscribes again after its session was terminated', async (context) => {
  await openers.postgres(context)
  const channel = randomName()
  const listener = postgresListener({ connectionString: databaseUrl, application_name: channel })
  const heard: string[] = []
  await listener.subscribe(channel, (message) => heard.push(message))
  const admin = new pg.Client({ connectionString: databaseUrl })
  await admin.connect()
  onTestFinished(async () => {
    await listener.close()
    await admin.end()
  })
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
    channel,
  ])
  await expect
    .poll(
      async () => {
        await admin.query('SELECT pg_notify($1, $2)', [channel, 'again'])
        return heard
      },
      { timeout: 60_000, interval: 100 },
    )
    .toContain('again')
})
