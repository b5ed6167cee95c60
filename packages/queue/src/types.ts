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
import type { PGliteInstance } from './postgres/pglite-pool.js'

/** BullMQ's `Queue`, whatever keeps its jobs. */
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

/** BullMQ's `Worker`, whatever keeps its jobs. */
export type JobWorker<Data, Result = void> = Worker<Data, Result, string, IQueueBackend, JobProgress, unknown>

/** BullMQ's `QueueEvents`, whatever keeps its jobs. */
export type JobEvents = QueueEvents<unknown, IQueueBackend, unknown>

/** What the backend itself decides is left out of BullMQ's options. */
export type JobQueueOptions = Omit<QueueOptions<unknown>, keyof QueueBaseOptions | 'prefix'>
export type JobWorkerOptions = Omit<WorkerOptions<unknown>, keyof QueueBaseOptions | 'prefix'> & {
  /** Shown beside the jobs that this worker processes. */
  readonly name?: string
}

interface CommonOptions {
  /**
   * How long a producer's call waits for the backend before it rejects, in milliseconds; workers wait for ever.
   * @defaultValue 3000
   */
  readonly requestTimeoutMs?: number
  /** Told of errors that no call returns, such as a lost connection. They carry neither credentials nor job data. */
  readonly onError?: (error: Error) => void
}

export type QueueBackendOptions =
  | (CommonOptions & {
      readonly kind: 'redis'
      /** `redis://` or `rediss://`, with user, password and database number where they are needed. */
      readonly url: string
      /** Put before every key, so that nodes can share one Redis. @defaultValue `ratatosk` */
      readonly prefix?: string
    })
  | (CommonOptions & {
      readonly kind: 'postgres'
      /** `postgres://` or `postgresql://`. */
      readonly url: string
      /** Schema of BullMQ's tables; made where it does not exist. @defaultValue `ratatosk_queue` */
      readonly schema?: string
      /** Connections at most; each worker and each `events` keeps one of them for itself. @defaultValue 12 */
      readonly poolSize?: number
    })
  | (CommonOptions & {
      readonly kind: 'pglite'
      /** Stays open when the backend closes. */
      readonly pglite: PGliteInstance
      /** Schema of BullMQ's tables; made where it does not exist. @defaultValue `ratatosk_queue` */
      readonly schema?: string
    })

/** A setting of the backend under which accepted jobs could be lost. */
export interface QueueWarning {
  readonly code: 'REDIS_NOT_PERSISTENT' | 'REDIS_MAY_EVICT'
  /** One sentence that says what to set. */
  readonly message: string
}

/** Speaks to whoever listens to the same channel of the same backend. */
export interface Broadcast {
  /**
   * Returns at once. A message may be lost: while a connection is down, or when it is longer than 7,900 bytes on
   * PostgreSQL, which carries no more.
   */
  send(message: string): void
}

/** Makes BullMQ's own classes, all over one store; whatever it made is closed with it. */
export interface QueueBackend {
  readonly kind: QueueBackendOptions['kind']
  queue<Data, Result = void>(name: string, options?: JobQueueOptions): JobQueue<Data, Result>
  worker<Data, Result = void>(
    name: string,
    processor: Processor<Data, Result, string>,
    options?: JobWorkerOptions,
  ): JobWorker<Data, Result>
  events(name: string): JobEvents
  /**
   * Joins a channel: `listener` hears what others send from now on, in this process or another, but not what is sent by
   * the result. A PGlite has one process, so nobody is heard there.
   */
  broadcast(channel: string, listener: (message: string) => void): Promise<Broadcast>
  /** Resolves when the backend answers; rejects when it does not, or when the signal aborts first. */
  ping(signal?: AbortSignal): Promise<void>
  /** What was found at the start; empty where the backend keeps what it acknowledges, or does not tell. */
  warnings(): readonly QueueWarning[]
  /**
   * Workers finish the jobs that they have begun, then everything is closed. Where that takes longer than
   * `timeoutMs` (10,000 unless told), connections are cut: unfinished jobs are redelivered to another worker.
   */
  close(timeoutMs?: number): Promise<void>
}
