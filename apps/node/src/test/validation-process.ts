import { openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { databaseUrl, redisUrl } from '@ratatosk/test-kit'
import { randomOf, validate } from './miniature-validation.js'

// Validation in miniature in its own process, for tests that kill it.
const [, , name = '', seed = ''] = process.argv
const store = await openStore({ url: databaseUrl, schema: name, maxConnections: 2 })
const backend = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
await validate(backend, store, randomOf(Number(seed))).ready()
process.on('disconnect', () => process.exit())
process.send?.('ready')
