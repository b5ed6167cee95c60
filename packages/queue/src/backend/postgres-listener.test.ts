import { databaseUrl, randomName } from '@ratatosk/test-kit'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openers } from '../test/backends.js'
import { postgresListener } from './postgres.js'

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
