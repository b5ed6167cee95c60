import { EventEmitter } from 'node:events'
import type { Mutex } from 'async-mutex'
import type { PgNotification, PgPool, PgPoolClient, PgQueryResult } from 'bullmq'

export interface StatementResult<T> {
  rows: T[]
  affectedRows?: number
}

export interface Statements {
  query<T>(sql: string, parameters?: unknown[]): Promise<StatementResult<T>>
  exec(sql: string): Promise<StatementResult<Record<string, unknown>>[]>
}

/** The methods of `PGlite` that the queue uses; `new PGlite(…)` satisfies it. */
export interface PGliteInstance extends Statements {
  transaction<T>(work: (transaction: Statements & { rollback(): Promise<void> }) => Promise<T>): Promise<T>
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>
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
