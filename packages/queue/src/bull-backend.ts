import { randomUUID } from 'node:crypto'
import { type IQueueBackend, type JobProgress, type Processor, Queue, QueueEvents, Worker } from 'bullmq'
import type { Connector } from './bull-connector.js'
import { QueueError, withoutSecrets } from './errors.js'
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
} from './types.js'

interface Closable {
  close(): Promise<void>
  disconnect(): Promise<void>
}

interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** BullMQ's classes over one connector, remembered so that they can be closed in the right order. */
export class BullBackend implements QueueBackend {
  readonly kind: QueueBackendOptions['kind']
  readonly #connector: Connector
  readonly #warnings: readonly QueueWarning[]
  readonly #onError: (error: Error) => void
  readonly #workers = new Set<Closable>()
  readonly #others = new Set<Closable>()
  #closing: Promise<void> | undefined

  constructor(
    kind: QueueBackendOptions['kind'],
    connector: Connector,
    warnings: readonly QueueWarning[],
    onError: ((error: Error) => void) | undefined,
  ) {
    this.kind = kind
    this.#connector = connector
    this.#warnings = warnings
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
    await connector.subscribe(channel, (message) => {
      if (!message.startsWith(self)) listener(message.slice(self.length))
    })
    return {
      send: (message) => {
        connector.publish(channel, self + message).catch((error) => this.#onError(withoutSecrets(error)))
      },
    }
  }

  async ping(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    const answered = this.#open().ping()
    try {
      await (signal === undefined ? answered : Promise.race([answered, rejectedBy(signal)]))
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      throw new QueueError('QUEUE_UNAVAILABLE', 'The queue does not answer', { cause })
    }
  }

  warnings(): readonly QueueWarning[] {
    return this.#warnings
  }

  close(timeoutMs = 10_000): Promise<void> {
    this.#closing ??= this.#close(timeoutMs)
    return this.#closing
  }

  async #close(timeoutMs: number): Promise<void> {
    const graceful = (async () => {
      await closeAll(this.#workers)
      await closeAll(this.#others)
      await this.#connector.close()
    })()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, true)
    })
    try {
      if (await Promise.race([graceful.then(() => false), late])) {
        graceful.catch(() => undefined)
        // Workers have connections of their own beside the connector's.
        for (const made of [...this.#workers, ...this.#others]) made.disconnect().catch(() => undefined)
        await this.#connector.cut()
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** BullMQ insists on a connection; the connector's factories bring their own. */
  get #placement() {
    const { prefix } = this.#connector
    return { connection: {}, ...(prefix === undefined ? {} : { prefix }) }
  }

  #open(): Connector {
    if (this.#closing !== undefined) throw new QueueError('QUEUE_CLOSED', 'The queue is closed')
    return this.#connector
  }

  #keep<T extends Closable & Emitter>(set: Set<Closable>, made: T): T {
    set.add(made)
    made.on('error', (error) => this.#onError(withoutSecrets(error)))
    return made
  }
}

async function closeAll(closables: Iterable<Closable>): Promise<void> {
  await Promise.allSettled([...closables].map((each) => each.close()))
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
