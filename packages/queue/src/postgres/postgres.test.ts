import { inspect } from 'node:util'
import { databaseUrl } from '@ratatosk/test-services'
import { expect, test } from 'vitest'
import { openQueueBackend } from '../index.js'

test('an unreachable PostgreSQL is told without its address', async () => {
  const url = 'postgres://somebody:opensesame@127.0.0.1:1/queue'
  const error = await openQueueBackend({ kind: 'postgres', url, requestTimeoutMs: 300 }).catch(
    (e: unknown) => e,
  )
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('opensesame')
})

test.each(['', 'localhost', 'mysql://:opensesame@localhost', '//:opensesame@localhost'])(
  'the address %j is refused',
  async (url) => {
    const error = await openQueueBackend({ kind: 'postgres', url }).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'QUEUE_CONFIGURATION' })
    expect(inspect(error, { depth: 9 })).not.toContain('opensesame')
  },
)

test('a schema that is no plain identifier is refused', async () => {
  await expect(
    openQueueBackend({ kind: 'postgres', url: databaseUrl, schema: 'a"; DROP' }),
  ).rejects.toMatchObject({ code: 'QUEUE_CONFIGURATION' })
})
