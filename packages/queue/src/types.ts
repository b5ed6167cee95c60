import type {
  IQueueBackend,
  JobProgress,
  Processor,
  Queue,
  QueueBaseOptions,
  QueueEvents,
  QueueOptions,
  Worker,
  WorkerOptions,
} from 'bullmq'

/** BullMQ's `Queue`, on any backend. */
export type JobQueue<Data, Result = void> = Queue<
  Data,
  Result,
  string,
  Data,
  Result,
  string,
  IQueueBackend,
  unknown
>

/** BullMQ's `Worker`, on any backend. */
export type JobWorker<Data, Result = void> = Worker<Data, Result, string, IQueueBackend, JobProgress, unknown>

/** BullMQ's `QueueEvents`, on any backend. */
export type JobEvents = QueueEvents<unknown, IQueueBackend, unknown>

/** BullMQ's options of a queue, without those that the backend sets. */
export type JobQueueOptions = Omit<QueueOptions<unknown>, keyof QueueBaseOptions | 'prefix'>

/** BullMQ's options of a worker, without those that the backend sets. */
export type JobWorkerOptions = Omit<WorkerOptions<unknown>, keyof QueueBaseOptions | 'prefix'> & {
  /** Recorded with the jobs that this worker processes. */
  readonly name?: string
}

export interface CommonOptions {
  /**
   * How long the call of a producer, or one that joins a channel, waits for the backend before it rejects, in
   * milliseconds. Workers wait without limit.
   * @defaultValue 3000
   */
  readonly requestTimeoutMs?: number
  /**
   * Called with errors that no call reports, such as a lost connection. They contain no credentials and no
   * job data.
   */
  readonly onError?: (error: Error) => void
}

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

/** Options of {@link openQueueBackend}, by the kind of store. */
export type QueueBackendOptions =
  | (CommonOptions & {
      readonly kind: 'redis'
      /** `redis://` or `rediss://`, with user, password and database number where needed. */
      readonly url: string
      /** Prepended to every key, so that several nodes can share one Redis. @defaultValue `ratatosk` */
      readonly prefix?: string
      /** Called when a ping finds a warning that the one before did not find. */
      readonly onWarning?: (warning: QueueWarning) => void
    })
  | (CommonOptions & {
      readonly kind: 'postgres'
      /** `postgres://` or `postgresql://`. */
      readonly url: string
      /** Schema of BullMQ's tables; created if missing. @defaultValue `ratatosk_queue` */
      readonly schema?: string
      /** Maximum number of connections; each worker and each `events()` occupies one. @defaultValue 12 */
      readonly poolSize?: number
    })
  | (CommonOptions & {
      readonly kind: 'pglite'
      /** Stays open when the backend closes. */
      readonly pglite: PGliteInstance
      /** Schema of BullMQ's tables; created if missing. @defaultValue `ratatosk_queue` */
      readonly schema?: string
    })

/** A setting of the store under which accepted jobs can be lost. */
export interface QueueWarning {
  readonly code: 'QUEUE_REDIS_NOT_PERSISTENT' | 'QUEUE_REDIS_MAY_EVICT'
  /** One sentence that names the setting to change. */
  readonly message: string
}

/** Sends to every other member of a channel. */
export interface Broadcast {
  /**
   * Returns at once. A message can be lost: while a connection is down, or on PostgreSQL when it is longer
   * than 7,900 bytes.
   */
  send(message: string): void
}

/** Creates BullMQ objects over one store and closes them with it. */
export interface QueueBackend {
  readonly kind: QueueBackendOptions['kind']
  /**
   * A queue to which jobs are added.
   *
   * @throws QueueError `QUEUE_CLOSED`, like every other method
   */
  queue<Data, Result = void>(name: string, options?: JobQueueOptions): JobQueue<Data, Result>
  /** A worker that processes the jobs of the queue with this name. */
  worker<Data, Result = void>(
    name: string,
    processor: Processor<Data, Result, string>,
    options?: JobWorkerOptions,
  ): JobWorker<Data, Result>
  /** The events of the queue with this name. */
  events(name: string): JobEvents
  /**
   * Joins a channel. `listener` receives what other members send, in this process or another, but not what is
   * sent with the returned object. PGlite has one process, so nothing is received there.
   *
   * @throws QueueError `QUEUE_UNAVAILABLE` when the backend does not confirm within `requestTimeoutMs`
   */
  broadcast(channel: string, listener: (message: string) => void): Promise<Broadcast>
  /**
   * Binds the queues in Redis with this prefix to a ledger; the first process decides. A ping repeats it, as
   * Redis may have lost its data. Queues in a database are in that of their ledger: nothing is done there.
   *
   * @param ledgerId the same for every process on the ledger, and for no other
   * @throws QueueError `QUEUE_LEDGER_CONFLICT` if they are bound to another one; `QUEUE_UNAVAILABLE`
   */
  bind(ledgerId: string): Promise<void>
  /**
   * The ledger to which {@link bind} has bound them; undefined if none, and in a database.
   *
   * @throws QueueError `QUEUE_UNAVAILABLE`
   */
  boundLedger(): Promise<string | undefined>
  /**
   * Resolves when the backend responds.
   *
   * @throws QueueError `QUEUE_UNAVAILABLE` when it does not; `QUEUE_LEDGER_CONFLICT` when another ledger has
   * taken queues that {@link bind} had bound; the signal's reason when the signal aborts first
   */
  ping(signal?: AbortSignal): Promise<void>
  /** Problems found by the last ping, or when the backend was opened; empty if the store does not say. */
  warnings(): readonly QueueWarning[]
  /**
   * Lets workers finish the jobs that they have started, then closes everything. After `timeoutMs`
   * milliseconds (10,000 by default) connections are cut, and unfinished jobs are redelivered to another
   * worker.
   */
  close(timeoutMs?: number): Promise<void>
}
