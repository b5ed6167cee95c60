import { randomUUID } from 'node:crypto'
import {
  type BackendFactory,
  type IQueueBackend,
  type JobProgress,
  type PgPool,
  PostgresConnection,
  PostgresQueueBackend,
  type Processor,
  QUEUE_EVENT_SUFFIX,
  Queue,
  QueueEvents,
  quoteSchemaName,
  Worker,
} from 'bullmq'
import pTimeout from 'p-timeout'
import { QueueError, withoutSecrets } from '../errors.js'
import type {
  Broadcast,
  JobEvents,
  JobQueue,
  JobQueueOptions,
  JobWorker,
  JobWorkerOptions,
  QueueBackend,
  QueueBackendOptions,
  QueueWarning,
} from '../types.js'

/** Creates one BullMQ backend over the connector's connections; the `connection` option is ignored. */
export type ConnectedFactory = BackendFactory<IQueueBackend, unknown>

/** One store: how BullMQ connects to it, and how it is pinged and closed. */
export interface Connector {
  /** For calls that must fail fast. */
  readonly producer: ConnectedFactory
  /** For loops that wait until the store is available again. */
  readonly consumer: ConnectedFactory
  readonly prefix?: string
  ping(): Promise<void>
  /** As the backend's. */
  bind?(ledgerId: string): Promise<void>
  /** As the backend's. */
  boundLedger?(): Promise<string | undefined>
  /** As the backend's. */
  warnings?(): readonly QueueWarning[]
  publish(channel: string, message: string): Promise<void>
  /** The subscription lasts until the connector closes. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
  /** Call after every BullMQ object is closed. */
  close(): Promise<void>
  /** Drops the connections at once, whatever is in progress. */
  cut(): Promise<void>
}

interface Closable {
  close(): Promise<void>
  disconnect(): Promise<void>
}

interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** Creates BullMQ objects over one connector and closes them in order: workers, queues, connections. */
export class BullBackend implements QueueBackend {
  readonly kind: QueueBackendOptions['kind']
  readonly #connector: Connector
  readonly #requestTimeoutMs: number
  readonly #onError: (error: Error) => void
  readonly #workers = new Set<Closable>()
  readonly #others = new Set<Closable>()
  #closing: Promise<void> | undefined

  constructor(
    kind: QueueBackendOptions['kind'],
    connector: Connector,
    {
      requestTimeoutMs,
      onError,
    }: { requestTimeoutMs: number; onError?: ((error: Error) => void) | undefined },
  ) {
    this.kind = kind
    this.#connector = connector
    this.#requestTimeoutMs = requestTimeoutMs
    this.#onError = onError ?? (() => undefined)
  }

  queue<Data, Result = void>(name: string, options: JobQueueOptions = {}): JobQueue<Data, Result> {
    const { producer } = this.#open()
    return this.#keep(
      this.#others,
      new Queue<Data, Result, string, Data, Result, string, IQueueBackend, unknown>(
        name,
        { ...options, ...this.#placement },
        producer,
      ),
    )
  }

  worker<Data, Result = void>(
    name: string,
    processor: Processor<Data, Result, string>,
    options: JobWorkerOptions = {},
  ): JobWorker<Data, Result> {
    const { consumer } = this.#open()
    return this.#keep(
      this.#workers,
      new Worker<Data, Result, string, IQueueBackend, JobProgress, unknown>(
        name,
        processor,
        { ...options, ...this.#placement },
        consumer,
      ),
    )
  }

  events(name: string): JobEvents {
    const { consumer } = this.#open()
    return this.#keep(
      this.#others,
      new QueueEvents<unknown, IQueueBackend, unknown>(name, this.#placement, consumer),
    )
  }

  async broadcast(channel: string, listener: (message: string) => void): Promise<Broadcast> {
    const connector = this.#open()
    const self = randomUUID()
    let isMember = true
    const joined = connector.subscribe(channel, (message) => {
      if (isMember && !message.startsWith(self)) listener(message.slice(self.length))
    })
    try {
      const milliseconds = this.#requestTimeoutMs
      await pTimeout(joined, { milliseconds, message: `No answer within ${milliseconds} ms` })
    } catch (cause) {
      // The subscription may still succeed when the backend is back.
      isMember = false
      throw new QueueError(
        'QUEUE_UNAVAILABLE',
        `The queue backend did not confirm the channel "${channel}"`,
        {
          cause,
        },
      )
    }
    return {
      send: (message) => {
        connector.publish(channel, self + message).catch((error) => this.#onError(withoutSecrets(error)))
      },
    }
  }

  async bind(ledgerId: string): Promise<void> {
    await asking(this.#open().bind?.(ledgerId))
  }

  async boundLedger(): Promise<string | undefined> {
    return asking(this.#open().boundLedger?.())
  }

  async ping(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const answered = this.#open().ping()
    try {
      // The connector limits how long a ping takes; only the signal is added here.
      const answer = pTimeout(answered, {
        milliseconds: Number.POSITIVE_INFINITY,
        ...(signal && { signal }),
      })
      await asking(answer)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw error
    }
  }

  warnings(): readonly QueueWarning[] {
    return this.#connector.warnings?.() ?? []
  }

  close(timeoutMs = 10_000): Promise<void> {
    this.#closing ??= pTimeout(this.#closeInOrder(), {
      milliseconds: Math.max(1, timeoutMs),
      fallback: () => this.#cut(),
    })
    return this.#closing
  }

  async #closeInOrder(): Promise<void> {
    await closeAll(this.#workers)
    await closeAll(this.#others)
    await this.#connector.close()
  }

  async #cut(): Promise<void> {
    // Workers have connections of their own in addition to the connector's.
    for (const made of [...this.#workers, ...this.#others]) made.disconnect().catch(() => undefined)
    await this.#connector.cut()
  }

  /** BullMQ requires a `connection` option; the connector's factories ignore it. */
  get #placement() {
    const { prefix } = this.#connector
    return { connection: {}, ...(prefix === undefined ? {} : { prefix }) }
  }

  #open(): Connector {
    if (this.#closing !== undefined) throw new QueueError('QUEUE_CLOSED', 'The queue backend is closed')
    return this.#connector
  }

  #keep<T extends Closable & Emitter>(set: Set<Closable>, made: T): T {
    set.add(made)
    made.on('error', (error) => this.#onError(withoutSecrets(error)))
    return made
  }
}

/** @throws QueueError */
async function asking<T>(answer: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof QueueError) throw cause
    throw new QueueError('QUEUE_UNAVAILABLE', 'The queue backend does not respond', { cause })
  }
}

async function closeAll(closables: Iterable<Closable>): Promise<void> {
  await Promise.allSettled([...closables].map((each) => each.close()))
}

/** BullMQ's connection over an existing pool, in a schema of the caller's choice. */
class SchemaConnection extends PostgresConnection {
  override readonly schema: string

  constructor(pool: PgPool, schema: string) {
    super(pool)
    this.schema = schema
  }
}

/** As BullMQ's `createPostgresBackend`, which allows no pool with another `schema` on its search path. */
export function schemaBackend(pool: PgPool, schema: string): ConnectedFactory {
  return (name, options, { blocking = false, withBlockingConnection = false } = {}) => {
    const worker = 'name' in options && typeof options.name === 'string' ? `:w:${options.name}` : ''
    // Names the session that waits for jobs or events, which is how `getWorkers` finds it.
    const session = withBlockingConnection
      ? `${name}${worker}`
      : blocking
        ? `${name}${QUEUE_EVENT_SUFFIX}`
        : undefined
    return new PostgresQueueBackend(
      new SchemaConnection(pool, schema),
      name,
      { ...options, connection: pool },
      true,
      session,
    )
  }
}

/**
 * Keeps jobs uncompressed: to compress one took two fifths of the time of storing it, and a job lives for
 * moments. Changes nothing where it is so already, or where the tables belong to another user.
 */
export async function storeUncompressed(client: Pick<PgPool, 'query'>, schema: string): Promise<void> {
  await client.query(`DO $$ BEGIN
    IF EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid = '${quoteSchema(schema)}.job'::regclass AND attname = 'data' AND attstorage <> 'e'
    ) THEN
      ALTER TABLE ${quoteSchema(schema)}.job ALTER COLUMN data SET STORAGE EXTERNAL;
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END $$`)
}

/** The schema name for SQL. @throws QueueError `QUEUE_CONFIGURATION` unless a plain identifier (BullMQ) */
export function quoteSchema(schema: string): string {
  try {
    return quoteSchemaName(schema)
  } catch (cause) {
    throw new QueueError('QUEUE_CONFIGURATION', 'The schema name must be a plain identifier', { cause })
  }
}
