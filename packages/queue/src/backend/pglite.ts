import { EventEmitter } from 'node:events'
import { Mutex } from 'async-mutex'
import {
  type PgNotification,
  type PgPool,
  type PgPoolClient,
  type PgQueryResult,
  runMigrations,
} from 'bullmq'
import { QueueError } from '../errors.js'
import type { PGliteInstance, Statements } from '../types.js'
import { type Connector, quoteSchema, schemaBackend, storeUncompressed } from './bull-backend.js'

const vacuumMs = 60_000

/** Dead rows, about 600 bytes each, that a table may hold before it is vacuumed. */
const deadRows = 10_000

/** Callers wait for producers' queries, but not for those of workers. */
const priority = { producer: 1, consumer: 0 } as const

interface PGliteConnectOptions {
  readonly pglite: PGliteInstance
  readonly schema: string
}

/** Names of BullMQ's tables, sequences and functions that other schemas on the search path hide. */
const hidden = `
  SELECT relname AS name FROM pg_class
   WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S') AND NOT pg_table_is_visible(oid)
  UNION ALL
  SELECT proname FROM pg_proc WHERE pronamespace = $1::regnamespace AND NOT pg_function_is_visible(oid)
  ORDER BY name`

export async function connectPglite(options: PGliteConnectOptions): Promise<Connector> {
  const schema = quoteSchema(options.schema)
  const mutex = new Mutex()
  const consumers = new PGlitePool(options.pglite, mutex, priority.consumer)
  const producers = new PGlitePool(options.pglite, mutex, priority.producer)
  const client = await consumers.connect()
  await runMigrations(client, options.schema)
  await storeUncompressed(client, options.schema)
  await shareSearchPath(consumers, schema)
  const vacuuming = setInterval(() => {
    // Fails if PGlite was closed in the meantime; the next start continues.
    vacuum(consumers, options.schema).catch(() => undefined)
  }, vacuumMs).unref()
  const end = async () => {
    clearInterval(vacuuming)
    await Promise.all([consumers.end(), producers.end()])
  }
  return {
    producer: schemaBackend(producers, options.schema),
    consumer: schemaBackend(consumers, options.schema),
    async ping() {
      await producers.query('SELECT 1')
    },
    // PGlite has one process: no other process can be notified.
    publish: async () => undefined,
    subscribe: async () => undefined,
    close: end,
    cut: end,
  }
}

/** Appends the queue's schema to PGlite's one search path: other users find the same tables as before. */
async function shareSearchPath(pool: PGlitePool, schema: string): Promise<void> {
  await pool.query(
    `SELECT set_config('search_path', current_setting('search_path') || ', ' || $1, false)
      WHERE NOT $1 = ANY (string_to_array(current_setting('search_path'), ', '))`,
    [schema],
  )
  const { rows } = await pool.query<{ name: string }>(hidden, [schema])
  if (rows.length > 0) {
    const names = rows.map(({ name }) => name).join(', ')
    throw new QueueError(
      'QUEUE_SCHEMA_CONFLICT',
      `Names of another schema hide those of the queue: ${names}. Rename them, or use a separate PGlite`,
    )
  }
}

/** PGlite has no autovacuum: without this, tables through which jobs pass would grow without bound. */
export async function vacuum(pool: PGlitePool, schema: string, threshold = deadRows): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relid::regclass::text AS name FROM pg_stat_user_tables WHERE schemaname = $1 AND n_dead_tup > $2`,
    [schema, threshold],
  )
  for (const { name } of rows) await pool.query(`VACUUM ${name}`)
}

/** The first two words of a statement, after white space and comments. */
const firstWords = /^(?:\s+|--[^\n]*(?:\n|$))*(\w+)(?:\s+(\w+))?/

/**
 * PGlite as a `pg.Pool`. Clients share its one session: queries run one at a time, and transactions
 * exclusively. Queries wait for the mutex here; inside PGlite they would delay its other users.
 */
export class PGlitePool extends EventEmitter implements PgPool {
  /** BullMQ reads this: no connection can be lost silently, so a worker does not need to poll. */
  readonly options = { keepAlive: true }
  readonly #pglite: PGliteInstance
  readonly #mutex: Mutex
  readonly #priority: number
  readonly #clients = new Set<PGliteClient>()
  #ended = false

  /** Pools of one PGlite share `mutex`; queries of a higher `priority` run first. */
  constructor(pglite: PGliteInstance, mutex: Mutex, priority: number) {
    super()
    this.setMaxListeners(0)
    this.#pglite = pglite
    this.#mutex = mutex
    this.#priority = priority
  }

  async query<R>(text: string, parameters?: readonly unknown[]): Promise<PgQueryResult<R>> {
    this.#refuseIfEnded()
    return this.#mutex.runExclusive(() => run<R>(this.#pglite, text, parameters), this.#priority)
  }

  async connect(): Promise<PgPoolClient> {
    this.#refuseIfEnded()
    const client = new PGliteClient(this.#pglite)
    this.#clients.add(client)
    return client
  }

  /** Ends subscriptions and open transactions. The PGlite instance stays open: it belongs to the caller. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.all([...this.#clients].map((client) => client.closed()))
    this.#clients.clear()
  }

  /** Uses the message of `pg`, by which BullMQ recognises a call after the end. */
  #refuseIfEnded(): void {
    if (this.#ended) throw new Error('Cannot use a pool after calling end on the pool')
  }
}

class PGliteClient extends EventEmitter implements PgPoolClient {
  readonly #pglite: PGliteInstance
  readonly #subscriptions = new Map<string, Promise<() => Promise<void>>>()
  #transaction: OpenTransaction | undefined

  constructor(pglite: PGliteInstance) {
    super()
    this.setMaxListeners(0)
    this.#pglite = pglite
  }

  async query<R>(text: string, parameters?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const [, verb, object] = firstWords.exec(text) ?? []
    switch (verb?.toUpperCase()) {
      case 'BEGIN':
        this.#transaction = await OpenTransaction.begin(this.#pglite)
        return { rows: [] }
      case 'COMMIT':
        await this.#end('commit')
        return { rows: [] }
      case 'ROLLBACK':
        await this.#end('rollback')
        return { rows: [] }
      case 'LISTEN':
        await this.#listen(object ?? '')
        return { rows: [] }
      default:
        return run<R>(this.#transaction?.statements ?? this.#pglite, text, parameters)
    }
  }

  release(): void {
    void this.closed()
  }

  async closed(): Promise<void> {
    const subscriptions = [...this.#subscriptions.values()]
    this.#subscriptions.clear()
    // Rejections are ignored: if PGlite is already closed, there is nothing left to end.
    await Promise.allSettled([
      this.#end('rollback'),
      ...subscriptions.map(async (subscription) => (await subscription)()),
    ])
  }

  async #end(how: 'commit' | 'rollback'): Promise<void> {
    const transaction = this.#transaction
    this.#transaction = undefined
    await transaction?.[how]()
  }

  async #listen(channel: string): Promise<void> {
    let subscription = this.#subscriptions.get(channel)
    if (subscription === undefined) {
      subscription = this.#pglite.listen(channel, (payload) => {
        const notification: PgNotification = { channel, payload }
        this.emit('notification', notification)
      })
      this.#subscriptions.set(channel, subscription)
    }
    await subscription
  }
}

/** Keeps the callback of `PGlite.transaction` running until `commit` or `rollback` is called. */
class OpenTransaction {
  readonly statements: Statements
  readonly #settle: (rollback: boolean) => void
  readonly #settled: Promise<void>

  private constructor(statements: Statements, settle: (rollback: boolean) => void, settled: Promise<void>) {
    this.statements = statements
    this.#settle = settle
    this.#settled = settled
  }

  static begin(pglite: PGliteInstance): Promise<OpenTransaction> {
    return new Promise((opened, failed) => {
      const settled = pglite.transaction(async (transaction) => {
        const rollback = await new Promise<boolean>((settle) => {
          // Deferred, because `settled` is not assigned until the transaction has begun.
          queueMicrotask(() => opened(new OpenTransaction(transaction, settle, settled)))
        })
        if (rollback) await transaction.rollback()
      })
      settled.catch(failed)
    })
  }

  commit(): Promise<void> {
    this.#settle(false)
    return this.#settled
  }

  rollback(): Promise<void> {
    this.#settle(true)
    return this.#settled
  }
}

/** As in `pg`, a text without parameters may hold several statements; returns the result of the last one. */
async function run<R>(
  on: Statements,
  text: string,
  parameters: readonly unknown[] = [],
): Promise<PgQueryResult<R>> {
  if (parameters.length > 0) return on.query<R>(text, [...parameters])
  const results = await on.exec(text)
  const last = results.at(-1)
  return { rows: (last?.rows ?? []) as R[], rowCount: last?.affectedRows ?? null }
}
