import { openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { databaseUrl, freeOfCharge, redisUrl, slots } from '@ratatosk/test-kit'
import { createValidationWorker } from '../index.js'

// A validation worker in its own process, for tests that kill it.
const [, , name = ''] = process.argv
const store = await openStore({ url: databaseUrl, schema: name, maxConnections: 2 })
const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
const worker = createValidationWorker({
  queue,
  store,
  parameters: freeOfCharge,
  networkId: 0,
  slots,
  batchSize: 32,
  concurrency: 96,
  lockDurationMs: 1000,
  stalledIntervalMs: 300,
})
await worker.ready()
process.send?.('ready')
