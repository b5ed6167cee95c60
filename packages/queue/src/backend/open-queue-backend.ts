import { requireKnown, wrongOption } from '../errors.js'
import type { QueueBackend, QueueBackendOptions } from '../types.js'
import { BullBackend } from './bull-backend.js'
import { connectPglite } from './pglite.js'
import { connectPostgres } from './postgres.js'
import { connectRedis } from './redis.js'

/**
 * Opens BullMQ on Redis, on PostgreSQL, or on a PGlite instance of the caller. Resolves once the backend has
 * responded and its tables exist.
 *
 * @throws QueueError `QUEUE_UNAVAILABLE`, `QUEUE_CONFIGURATION` or `QUEUE_SCHEMA_CONFLICT`
 *
 * @example
 * const backend = await openQueueBackend({ kind: 'redis', url: 'redis://127.0.0.1:6379' })
 * for (const warning of backend.warnings()) console.warn(warning.message)
 * const greetings = backend.queue<string>('greetings')
 * backend.worker<string>('greetings', async (job) => console.log(job.data))
 * await greetings.add('greet', 'hello')
 * await backend.close()
 */
export async function openQueueBackend(options: QueueBackendOptions): Promise<QueueBackend> {
  checkOptions(options)
  const { kind, requestTimeoutMs = 3000, onError } = options
  switch (kind) {
    case 'redis': {
      const connector = await connectRedis({ prefix: 'ratatosk', ...options, requestTimeoutMs })
      return new BullBackend(kind, connector, { requestTimeoutMs, onError })
    }
    case 'postgres': {
      const connector = await connectPostgres({
        schema: 'ratatosk_queue',
        poolSize: 12,
        ...options,
        requestTimeoutMs,
      })
      return new BullBackend(kind, connector, { requestTimeoutMs, onError })
    }
    case 'pglite':
      return new BullBackend(kind, await connectPglite({ schema: 'ratatosk_queue', ...options }), {
        requestTimeoutMs,
        onError,
      })
  }
}

const ofKind: { readonly [Kind in QueueBackendOptions['kind']]: readonly string[] } = {
  redis: ['url', 'prefix', 'onWarning'],
  postgres: ['url', 'schema', 'poolSize'],
  pglite: ['pglite', 'schema'],
}

/** The largest time of a timer of Node.js, and number of connections of PostgreSQL. */
const largest = { requestTimeoutMs: 2 ** 31 - 1, poolSize: 262_143 }

/** @throws QueueError `QUEUE_CONFIGURATION` */
function checkOptions(options: QueueBackendOptions): void {
  const { kind } = options
  if (!Object.hasOwn(ofKind, kind))
    throw wrongOption(`kind must be ${Object.keys(ofKind).join(', ')}, not ${kind}`)
  requireKnown(options, ['kind', 'requestTimeoutMs', 'onError', ...ofKind[kind]])
  if (options.kind === 'pglite' && typeof options.pglite?.exec !== 'function')
    throw wrongOption('pglite must be an instance of PGlite')
  for (const [name, most] of Object.entries(largest)) {
    const value: unknown = Reflect.get(options, name)
    if (value !== undefined && !(Number.isInteger(value) && Number(value) > 0 && Number(value) <= most))
      throw wrongOption(`${name} must be a whole number from 1 to ${most}`)
  }
}
