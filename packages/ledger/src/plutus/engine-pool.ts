import { Worker } from 'node:worker_threads'
import type { EngineAnswer, EngineRequest } from './engine.js'
import { EvaluatorBusyError, EvaluatorClosedError } from './errors.js'

/** An engine's answer, or how its thread ended instead. */
export type PoolAnswer =
  | EngineAnswer
  | { readonly kind: 'timeout' | 'memory' | 'crashed'; readonly message: string }

export interface EnginePool {
  /** Runs a request when a thread is free, in the order of asking; from then on it may take `timeLimitMs`. */
  run(request: EngineRequest, timeLimitMs: number): Promise<PoolAnswer>
  /** Ends every thread; what waits or runs rejects with {@link EvaluatorClosedError}. */
  close(): Promise<void>
}

export interface EnginePoolOptions {
  readonly threads: number
  /** Heap of a thread, in mebibytes. */
  readonly memoryLimitMb: number
  readonly queueLimit: number
  readonly program: URL
  /** What a thread's program finds as its `workerData`. */
  readonly workerData?: object
}

interface Job {
  readonly request: EngineRequest
  readonly timeLimitMs: number
  readonly resolve: (answer: PoolAnswer) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  loaded: boolean
  job?: Job
  timer?: NodeJS.Timeout
}

/** How long a thread may take to load its engine: far more than it needs, for a machine that is busy. */
const loadLimitMs = 30_000

/**
 * Threads that each run one engine. They start when there is work; one that broke or ran out of its time is ended and
 * replaced, so what a script does to an engine ends with that evaluation. A thread counts until it has truly ended: there
 * are never more heaps than `threads`.
 */
export function createEnginePool({
  threads: size,
  queueLimit,
  program,
  memoryLimitMb,
  workerData,
}: EnginePoolOptions): EnginePool {
  const waiting: Job[] = []
  const threads = new Set<Thread>()
  const idle: Thread[] = []
  let closed = false

  function dispatch(): void {
    while (waiting.length > 0 && (idle.length > 0 || threads.size < size)) {
      const thread = idle.pop() ?? start()
      const job = waiting.shift()
      if (job !== undefined) assign(thread, job)
    }
  }

  function start(): Thread {
    const worker = new Worker(program, {
      name: 'plutus',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb, maxYoungGenerationSizeMb: 32 },
    })
    const thread: Thread = { worker, loaded: false }
    threads.add(thread)
    worker.on('message', (message: EngineAnswer | 'ready') => {
      if (message !== 'ready') return answer(thread, message)
      thread.loaded = true
      send(thread)
    })
    worker.on('error', (error: Error & { code?: string }) => {
      const kind = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crashed'
      breakDown(thread, { kind, message: `The engine's thread ended: ${error.message}` })
    })
    worker.on('exit', () => {
      threads.delete(thread)
      breakDown(thread, { kind: 'crashed', message: "The engine's thread ended" })
      dispatch()
    })
    return thread
  }

  function assign(thread: Thread, job: Job): void {
    thread.job = job
    thread.worker.ref()
    if (thread.loaded) send(thread)
    else limit(thread, loadLimitMs, 'The engine did not load in time')
  }

  function send(thread: Thread): void {
    const { job } = thread
    if (job === undefined) return
    limit(thread, job.timeLimitMs, `Evaluation took more than ${job.timeLimitMs} ms`)
    thread.worker.postMessage(job.request)
  }

  function limit(thread: Thread, milliseconds: number, message: string): void {
    clearTimeout(thread.timer)
    const { job } = thread
    thread.timer = setTimeout(() => {
      // Where this thread was busy itself, an answer may have come in time and wait to be read: immediates run after that.
      setImmediate(() => {
        if (thread.job === job) breakDown(thread, { kind: 'timeout', message })
      })
    }, milliseconds)
  }

  function answer(thread: Thread, result: PoolAnswer): void {
    const { job } = thread
    if (job === undefined) return
    clearTimeout(thread.timer)
    delete thread.job
    thread.worker.unref()
    idle.push(thread)
    job.resolve(result)
    dispatch()
  }

  /** Whatever the thread is at, it may not go on: its job is answered and it is ended. */
  function breakDown(thread: Thread, result: PoolAnswer): void {
    clearTimeout(thread.timer)
    const place = idle.indexOf(thread)
    if (place >= 0) idle.splice(place, 1)
    thread.job?.resolve(result)
    delete thread.job
    thread.worker.terminate()
  }

  return {
    run(request, timeLimitMs) {
      if (closed) return Promise.reject(new EvaluatorClosedError())
      if (waiting.length >= queueLimit) return Promise.reject(new EvaluatorBusyError(waiting.length))
      return new Promise((resolve, reject) => {
        waiting.push({ request, timeLimitMs, resolve, reject })
        dispatch()
      })
    },
    async close() {
      closed = true
      const error = new EvaluatorClosedError()
      for (const job of waiting.splice(0)) job.reject(error)
      await Promise.all(
        [...threads].map((thread) => {
          clearTimeout(thread.timer)
          thread.job?.reject(error)
          delete thread.job
          return thread.worker.terminate()
        }),
      )
    },
  }
}
