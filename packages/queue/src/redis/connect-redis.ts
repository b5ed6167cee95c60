import { createRedisBackend } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import type { ConnectedFactory, Connector } from '../bull-connector.js'
import { QueueError } from '../errors.js'
import type { QueueWarning } from '../types.js'
import { durabilityWarnings } from './durability.js'
import { redisSubscriber } from './subscriber.js'

export interface RedisConnectOptions {
  readonly url: string
  readonly prefix: string
  readonly requestTimeoutMs: number
}

/** Milliseconds until the next try to connect. */
const retryStrategy = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 6), 1000)

/**
 * Two connections, shared by whatever BullMQ makes: one whose commands fail when Redis is away for longer than the
 * bound, and one that waits. BullMQ duplicates the second for each worker's blocking wait.
 */
export async function connectRedis(
  options: RedisConnectOptions,
): Promise<Connector & { readonly warnings: readonly QueueWarning[] }> {
  const { url, prefix, requestTimeoutMs } = options
  checkRedisUrl(url)
  const common: RedisOptions = { lazyConnect: true, retryStrategy, keepAlive: 10_000 }
  const producer = new Redis(url, {
    ...common,
    connectTimeout: requestTimeoutMs,
    // What waits for a connection is failed at each second try, so that it cannot pile up while Redis is away.
    maxRetriesPerRequest: 1,
    commandTimeout: requestTimeoutMs,
  })
  const consumer = new Redis(url, { ...common, maxRetriesPerRequest: null })
  const connections = [producer, consumer]
  let failure: Error | undefined
  for (const connection of connections) {
    connection.setMaxListeners(0)
    connection.on('error', (error) => {
      failure = error
    })
  }
  try {
    await within(requestTimeoutMs, Promise.all(connections.map((connection) => connection.connect())))
  } catch (cause) {
    for (const connection of connections) connection.disconnect()
    throw new QueueError('QUEUE_UNAVAILABLE', 'Redis cannot be reached', { cause: failure ?? cause })
  }
  const subscriber = redisSubscriber(consumer)
  const channelKey = (channel: string) => `${prefix}:broadcast:${channel}`
  return {
    producer: connected(producer),
    consumer: connected(consumer),
    // A server that forbids INFO gets no warnings.
    warnings: durabilityWarnings(await producer.info().catch(() => '')),
    prefix,
    async ping() {
      await producer.ping()
    },
    async publish(channel, message) {
      await producer.publish(channelKey(channel), message)
    },
    subscribe: (channel, listener) => subscriber.subscribe(channelKey(channel), listener),
    async close() {
      subscriber.close()
      await Promise.all(
        connections.map((connection) =>
          connection.status === 'ready' ? connection.quit() : connection.disconnect(),
        ),
      )
    },
    async cut() {
      subscriber.close()
      for (const connection of connections) connection.disconnect()
    },
  }
}

function connected(connection: Redis): ConnectedFactory {
  return (name, options, kind) => createRedisBackend(name, { ...options, connection }, kind)
}

function checkRedisUrl(url: string): void {
  // The error of URL itself would carry the address with its password.
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw new QueueError(
      'QUEUE_CONFIGURATION',
      'The address of Redis must read redis://host:port or rediss://host:port',
    )
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
