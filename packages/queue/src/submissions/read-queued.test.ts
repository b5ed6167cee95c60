import type { PGlite } from '@electric-sql/pglite'
import { createPGlite, databaseUrl, inDatabase, randomName, redisUrl, removeKeys } from '@ratatosk/test-kit'
import { Redis } from 'ioredis'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openQueueBackend } from '../backend/open-queue-backend.js'
import { reachable } from '../test/backends.js'
import type { QueueBackendOptions } from '../types.js'
import { readQueued, type StoredQueue } from './read-queued.js'
import { createSubmissionQueue, submissionQueueName } from './submission-queue.js'

const count = 1_500
/** Each is a job of its own: more than two pages. */
const ordered = 40
const sent = Array.from({ length: count }, (_, n) => new Uint8Array(300).fill(n % 256).fill(n >> 8, 0, 1))
const hexOf = (all: readonly Uint8Array[]) => all.map((each) => Buffer.from(each).toString('hex'))

async function readAll(queue: StoredQueue, onMissing?: (count: number) => void): Promise<string[]> {
  const found: Uint8Array[] = []
  for await (const page of readQueued(queue, onMissing)) found.push(...page)
  return hexOf(found)
}

/** Adds the transactions, the first ones one after the other, and closes the queue. */
async function fill(options: QueueBackendOptions): Promise<void> {
  const backend = await openQueueBackend(options)
  const queue = createSubmissionQueue(backend)
  for (const cbor of sent.slice(0, ordered)) await queue.add(cbor)
  await Promise.all(sent.slice(ordered).map((cbor) => queue.add(cbor)))
  await backend.close()
}

async function expectAll(place: StoredQueue): Promise<void> {
  const found = await readAll(place)
  expect(found.slice(0, ordered)).toEqual(hexOf(sent.slice(0, ordered)))
  expect(found.sort()).toEqual(hexOf(sent).sort())
}

test('what waits in Redis is read in order, and stays', async (context) => {
  await reachable(context, 'Redis')
  const place = { kind: 'redis', url: redisUrl, prefix: randomName() } as const
  onTestFinished(() => removeKeys(place.prefix))
  expect(await readAll(place)).toEqual([])
  await fill(place)
  await expectAll(place)
  await expectAll(place)

  const redis = new Redis(redisUrl)
  onTestFinished(() => redis.disconnect())
  const waiting = `${place.prefix}:${submissionQueueName}:wait`
  const oldest = await redis.lindex(waiting, -1)
  expect(await redis.del(`${place.prefix}:${submissionQueueName}:${oldest}`)).toBe(1)
  const missing: number[] = []
  const found = await readAll(place, (transactions) => missing.push(transactions))
  expect(missing).toEqual([1])
  expect(found.sort()).toEqual(hexOf(sent.slice(1)).sort())
})

test('what waits in PostgreSQL is read in order, and nothing is created', async (context) => {
  await reachable(context, 'PostgreSQL')
  const schema = randomName()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await inDatabase(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  })
  await client.query('SET default_transaction_read_only = on')
  const run = (text: string, parameters: readonly string[]) => client.query(text, [...parameters])
  const place = { kind: 'tables', schema, run } as const
  expect(await readAll(place)).toEqual([])
  await fill({ kind: 'postgres', url: databaseUrl, schema })
  await expectAll(place)
  await inDatabase(`UPDATE ${schema}.job SET data = '[{"id":"x"}]'`)
  await expect(readAll(place)).rejects.toMatchObject({ code: 'QUEUE_CONFIGURATION' })
})

test('what waits in PGlite is read in order', async () => {
  const pglite: PGlite = await createPGlite()
  onTestFinished(() => pglite.close())
  await fill({ kind: 'pglite', pglite })
  const run = (text: string, parameters: readonly string[]) => pglite.query(text, [...parameters])
  await expectAll({ kind: 'tables', schema: 'ratatosk_queue', run })
})
