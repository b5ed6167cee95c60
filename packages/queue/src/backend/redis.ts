import { createRedisBackend } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import pTimeout from 'p-timeout'
import { QueueError } from '../errors.js'
import type { QueueWarning } from '../types.js'
import type { ConnectedFactory, Connector } from './bull-backend.js'

interface RedisConnectOptions {
  readonly url: string
  readonly prefix: string
  readonly requestTimeoutMs: number
  readonly onWarning?: (warning: QueueWarning) => void
}

/** Milliseconds until the next connection attempt. */
const retryStrategy = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 6), 1000)

/**
 * Emits `end` also between two attempts to connect: ioredis does not, and BullMQ's worker waits for it. Its
 * duplicates connect at once: of one that waits, BullMQ calls `connect`, and gives up when that fails once.
 */
class Connection extends Redis {
  override disconnect(reconnect = false): void {
    // ioredis ends a connection in this state at once.
    if (!reconnect && this.status === 'reconnecting') this.status = 'wait'
    super.disconnect(reconnect)
  }

  /** ioredis goes on in database 0 when Redis refuses the one of the address, each time that it connects. */
  override select(database: number | string): ReturnType<Redis['select']> {
    const selected = super.select(database)
    selected.catch((error) => {
      if (lacksDatabase(error)) this.disconnect(true)
    })
    return selected
  }

  override duplicate(override: Partial<RedisOptions> = {}): Redis {
    return new Connection({ ...this.options, lazyConnect: false, ...override })
  }
}

/**
 * Two connections for all BullMQ objects: commands of the first fail after `requestTimeoutMs` without Redis,
 * those of the second wait.
 */
export async function connectRedis(options: RedisConnectOptions): Promise<Connector> {
  const { url, prefix, requestTimeoutMs, onWarning } = options
  checkRedisUrl(url)
  const common: RedisOptions = { lazyConnect: true, retryStrategy, keepAlive: 10_000 }
  const producer = new Connection(url, {
    ...common,
    connectTimeout: requestTimeoutMs,
    // Commands that wait for a connection fail after one retry, so that they do not pile up while Redis is
    // away.
    maxRetriesPerRequest: 1,
    commandTimeout: requestTimeoutMs,
  })
  const consumer = new Connection(url, { ...common, maxRetriesPerRequest: null })
  const connections = [producer, consumer]
  let failure: Error | undefined
  for (const connection of connections) {
    connection.setMaxListeners(0)
    connection.on('error', (error) => {
      failure = error
    })
  }
  try {
    await pTimeout(Promise.all(connections.map((each) => each.connect())), {
      milliseconds: requestTimeoutMs,
      message: `No answer within ${requestTimeoutMs} ms`,
    })
  } catch (cause) {
    for (const connection of connections) connection.disconnect()
    if (lacksDatabase(failure) && failure.command?.name === 'select')
      throw new QueueError(
        'QUEUE_CONFIGURATION',
        `Redis refuses database ${producer.options.db} (${failure.message})`,
      )
    throw new QueueError('QUEUE_UNAVAILABLE', 'Redis is not reachable', { cause: failure ?? cause })
  }
  const subscriber = redisSubscriber(consumer)
  const channelKey = (channel: string) => `${prefix}:broadcast:${channel}`
  let warnings: readonly QueueWarning[] = []
  /** @returns warnings that are new */
  async function look(): Promise<readonly QueueWarning[]> {
    // A server that forbids INFO produces no warnings.
    const info = await producer.info().catch(() => undefined)
    const known = warnings
    if (info !== undefined) warnings = durabilityWarnings(info)
    return warnings.filter(({ message }) => known.every((each) => each.message !== message))
  }
  await look()
  const binding = redisBinding(producer, prefix)
  return {
    producer: connected(producer),
    consumer: connected(consumer),
    prefix,
    warnings: () => warnings,
    async ping() {
      const [found] = await Promise.all([look(), producer.ping(), binding.renew()])
      for (const warning of found) onWarning?.(warning)
    },
    bind: binding.bind,
    boundLedger: binding.read,
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

/** Whether Redis has not the database that was selected. Without a password it refuses everything. */
const lacksDatabase = (error: unknown): error is Error & { readonly command?: { readonly name: string } } =>
  error instanceof Error && error.name === 'ReplyError' && error.message.startsWith('ERR ')

/** The ledger of the queues with this prefix, in a key beside them. */
function redisBinding(connection: Redis, prefix: string) {
  const key = `${prefix}:ledger`
  let own: string | undefined
  const read = async (): Promise<string | undefined> => (await connection.get(key)) ?? undefined
  async function bind(ledgerId: string): Promise<void> {
    for (;;) {
      // Read first: a Redis that is full takes no writes, but workers can still empty it.
      const bound = await read()
      if (bound === ledgerId) break
      if (bound !== undefined)
        throw new QueueError('QUEUE_LEDGER_CONFLICT', `Another ledger has the queue: see the key ${key}`)
      await connection.set(key, ledgerId, 'NX')
    }
    own = ledgerId
  }
  return {
    read,
    bind,
    renew: async () => {
      if (own !== undefined) await bind(own)
    },
  }
}

/** The settings in INFO that may lose accepted jobs; empty if it says nothing. */
export function durabilityWarnings(info: string): QueueWarning[] {
  const warnings: QueueWarning[] = []
  if (/^aof_enabled:0/m.test(info)) {
    warnings.push({
      code: 'QUEUE_REDIS_NOT_PERSISTENT',
      message:
        'Redis keeps no append-only file and loses accepted jobs when it crashes: set "appendonly yes"',
    })
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push({
      code: 'QUEUE_REDIS_MAY_EVICT',
      message: `Redis may evict jobs when its memory is full (${policy}): set "maxmemory-policy noeviction"`,
    })
  }
  return warnings
}

function connected(connection: Redis): ConnectedFactory {
  return (name, options, kind) => createRedisBackend(name, { ...options, connection }, kind)
}

/** A connection for subscriptions, opened by the first one; ioredis renews them. */
function redisSubscriber(connection: Redis) {
  let subscriber: Redis | undefined
  return {
    async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
      if (subscriber === undefined) {
        subscriber = connection.duplicate()
        subscriber.setMaxListeners(0)
        // The original connection reports the same outages.
        subscriber.on('error', () => undefined)
      }
      subscriber.on('message', (from: string, message: string) => {
        if (from === channel) listener(message)
      })
      await subscriber.subscribe(channel)
    },
    close(): void {
      subscriber?.disconnect()
    },
  }
}

function checkRedisUrl(url: string): void {
  // The error of the URL constructor would carry the address with its password.
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw new QueueError(
      'QUEUE_CONFIGURATION',
      'Invalid Redis address: use redis://host:port or rediss://host:port',
    )
  }
  const { pathname, searchParams } = new URL(url)
  if (!/^(\/\d*)?$/.test(pathname) || !/^\d+$/.test(searchParams.get('db') ?? '0')) {
    throw new QueueError(
      'QUEUE_CONFIGURATION',
      'Invalid Redis address: a database is a number, such as redis://host:port/7',
    )
  }
}
