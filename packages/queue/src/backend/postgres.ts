import { createHash } from 'node:crypto'
import { type PgPool, runMigrations } from 'bullmq'
import pg from 'pg'
import { QueueError } from '../errors.js'
import { type Connector, quoteSchema, schemaBackend, storeUncompressed } from './bull-backend.js'

interface PostgresConnectOptions {
  readonly url: string
  readonly schema: string
  readonly poolSize: number
  readonly requestTimeoutMs: number
}

/** How long a statement that creates tables may take on a busy disk, in milliseconds. */
const migrationMs = 60_000
/** No such database, or user and password that it does not accept. */
const refusals: ReadonlySet<unknown> = new Set(['3D000', '28000', '28P01'])
/** Bytes; PostgreSQL accepts less than 8,000. */
const maxNotificationBytes = 7999

/** One pool, shared by every BullMQ object. */
export async function connectPostgres(options: PostgresConnectOptions): Promise<Connector> {
  const { url, schema, poolSize, requestTimeoutMs } = options
  checkPostgresUrl(url)
  const config: pg.ClientConfig = {
    connectionString: url,
    // A submission is acknowledged once its job is written, so that must be durable. Compiling a statement
    // takes longer than running it.
    options: `-c search_path=${quoteSchema(schema)} -c synchronous_commit=on -c jit=off`,
    keepAlive: true,
    connectionTimeoutMillis: requestTimeoutMs,
    query_timeout: requestTimeoutMs,
  }
  const pool = new pg.Pool({ ...config, max: poolSize })
  pool.setMaxListeners(0)
  pool.on('error', () => undefined)
  const migrating = new pg.Client({ ...config, query_timeout: Math.max(requestTimeoutMs, migrationMs) })
  migrating.on('error', () => undefined)
  try {
    await migrating.connect()
    await runMigrations(migrating, schema)
    await storeUncompressed(migrating, schema)
  } catch (cause) {
    await pool.end()
    if (refusals.has(Reflect.get(Object(cause), 'code')))
      throw new QueueError(
        'QUEUE_CONFIGURATION',
        'PostgreSQL refuses the user or has no such database: check the url',
        { cause },
      )
    throw new QueueError(
      'QUEUE_UNAVAILABLE',
      "PostgreSQL is not reachable or did not create the queue's tables",
      { cause },
    )
  } finally {
    await migrating.end()
  }
  const factory = schemaBackend(pool as PgPool, schema)
  const listener = postgresListener(config)
  return {
    producer: factory,
    consumer: factory,
    async ping() {
      await pool.query('SELECT 1')
    },
    async publish(channel, message) {
      if (Buffer.byteLength(message) > maxNotificationBytes) return
      await pool.query('SELECT pg_notify($1, $2)', [channelName(schema, channel), message])
    },
    subscribe: (channel, hear) => listener.subscribe(channelName(schema, channel), hear),
    async close() {
      await listener.close()
      await pool.end()
    },
    cut: async () => {
      void listener.close()
      void pool.end().catch(() => undefined)
    },
  }
}

/** Channels belong to the database and have at most 63 bytes; so schema and channel are hashed. */
function channelName(schema: string, channel: string): string {
  return `ratatosk_${createHash('sha256').update(`${schema} ${channel}`).digest('hex').slice(0, 32)}`
}

function checkPostgresUrl(url: string): void {
  // The error of the URL constructor would carry the address with its password.
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') {
    throw new QueueError(
      'QUEUE_CONFIGURATION',
      'Invalid PostgreSQL address: use postgres://host:port/database',
    )
  }
}

const reconnectMs = 1000

/** A session for LISTEN, opened by the first subscription and reopened a second after it is lost. */
export function postgresListener(config: pg.ClientConfig) {
  const listeners = new Map<string, ((message: string) => void)[]>()
  let session: Promise<pg.Client> | undefined
  let closed = false

  async function open(): Promise<pg.Client> {
    const client = new pg.Client(config)
    client.on('notification', ({ channel, payload = '' }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload)
    })
    client.on('error', () => undefined)
    client.on('end', reopen)
    await client.connect()
    for (const channel of listeners.keys()) await listen(client, channel)
    return client
  }

  function reopen(): void {
    if (closed) return
    session = undefined
    setTimeout(() => {
      if (closed || session !== undefined) return
      session = open()
      session.catch(reopen)
    }, reconnectMs).unref()
  }

  return {
    async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener])
      if (session === undefined) {
        session = open()
        await session
      } else {
        await listen(await session, channel)
      }
    },
    async close(): Promise<void> {
      closed = true
      await session?.then((client) => client.end()).catch(() => undefined)
    },
  }
}

async function listen(client: pg.Client, channel: string): Promise<void> {
  await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
}
