import { Worker } from 'node:worker_threads'
import { EvaluatorError } from '../errors.js'
import type { EngineAnswer, EngineRequest } from './engine.js'

/** The answer of an engine, or the reason why its thread ended without one. */
export type PoolAnswer =
  | EngineAnswer
  | { readonly kind: 'timeout' | 'memory' | 'crashed'; readonly message: string }

export interface EnginePool {
  /** Queues a request for the next free thread. The time limit starts when the thread receives it. */
  run(request: EngineRequest, timeLimitMs: number): Promise<PoolAnswer>
  /** Terminates all threads. Queued and running requests reject with `EVALUATOR_CLOSED`. */
  close(): Promise<void>
}

interface EnginePoolOptions {
  readonly threads: number
  /** Heap limit of a thread in mebibytes. */
  readonly memoryLimitMb: number
  readonly queueLimit: number
  readonly program: URL
  /** The `workerData` of the threads. */
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

/** A pool at work. */
interface Pool extends EnginePoolOptions {
  readonly waiting: Job[]
  /** Those that have not exited. */
  readonly running: Set<Thread>
  readonly idle: Thread[]
  isClosed: boolean
}

export function evaluatorClosed(): EvaluatorError {
  return new EvaluatorError('EVALUATOR_CLOSED', 'The evaluator is closed')
}

/** Time limit for loading an engine. Generous, because the machine may be busy. */
const loadLimitMs = 30_000

/**
 * Creates a pool of threads with one engine each. Threads start when there is work. A thread that fails or
 * exceeds its time limit is terminated and replaced, so that a script affects no later evaluation. A thread
 * counts until it has exited, so there are never more than `threads` heaps.
 */
export function createEnginePool(options: EnginePoolOptions): EnginePool {
  const pool: Pool = { ...options, waiting: [], running: new Set(), idle: [], isClosed: false }
  const { waiting, running, queueLimit } = pool
  return {
    async run(request, timeLimitMs) {
      if (pool.isClosed) throw evaluatorClosed()
      if (waiting.length >= queueLimit) {
        const message = `The evaluator is busy: ${waiting.length} evaluations are waiting`
        throw new EvaluatorError('EVALUATOR_BUSY', message)
      }
      return new Promise((resolve, reject) => {
        waiting.push({ request, timeLimitMs, resolve, reject })
        dispatch(pool)
      })
    },
    async close() {
      pool.isClosed = true
      const error = evaluatorClosed()
      for (const job of waiting.splice(0)) job.reject(error)
      for (const { job } of running) job?.reject(error)
      await Promise.all([...running].map((thread) => end(pool, thread)))
    },
  }
}

function dispatch(pool: Pool): void {
  const { waiting, idle, running } = pool
  while (waiting.length > 0 && (idle.length > 0 || running.size < pool.threads)) {
    const thread = idle.pop() ?? start(pool)
    const job = waiting.shift()
    if (job !== undefined) assign(pool, thread, job)
  }
}

function start(pool: Pool): Thread {
  const { program, workerData, memoryLimitMb } = pool
  const worker = new Worker(program, {
    name: 'plutus',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb, maxYoungGenerationSizeMb: 32 },
  })
  const thread: Thread = { worker, loaded: false }
  pool.running.add(thread)
  worker.on('message', (message: EngineAnswer | 'ready') => {
    if (message !== 'ready') return answer(pool, thread, message)
    thread.loaded = true
    send(pool, thread)
  })
  worker.on('error', (error: Error & { code?: string }) => {
    const kind = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crashed'
    breakDown(pool, thread, { kind, message: `The engine's thread ended: ${error.message}` })
  })
  worker.on('exit', () => {
    pool.running.delete(thread)
    breakDown(pool, thread, { kind: 'crashed', message: "The engine's thread ended" })
    dispatch(pool)
  })
  return thread
}

function assign(pool: Pool, thread: Thread, job: Job): void {
  thread.job = job
  thread.worker.ref()
  if (thread.loaded) send(pool, thread)
  else limit(pool, thread, loadLimitMs, 'The engine did not load in time')
}

function send(pool: Pool, thread: Thread): void {
  const { job } = thread
  if (job === undefined) return
  limit(pool, thread, job.timeLimitMs, `Evaluation took more than ${job.timeLimitMs} ms`)
  thread.worker.postMessage(job.request)
}

function limit(pool: Pool, thread: Thread, milliseconds: number, message: string): void {
  clearTimeout(thread.timer)
  const { job } = thread
  thread.timer = setTimeout(() => {
    // A busy main thread may not have read a timely answer yet. Immediates run after pending messages.
    setImmediate(() => {
      if (thread.job === job) breakDown(pool, thread, { kind: 'timeout', message })
    })
  }, milliseconds)
}

function answer(pool: Pool, thread: Thread, result: PoolAnswer): void {
  const { job } = thread
  if (job === undefined) return
  clearTimeout(thread.timer)
  delete thread.job
  thread.worker.unref()
  pool.idle.push(thread)
  job.resolve(result)
  dispatch(pool)
}

/** Answers the job of a thread and terminates the thread. */
function breakDown(pool: Pool, thread: Thread, result: PoolAnswer): void {
  thread.job?.resolve(result)
  end(pool, thread)
}

function end({ idle }: Pool, thread: Thread): Promise<number> {
  clearTimeout(thread.timer)
  const place = idle.indexOf(thread)
  if (place >= 0) idle.splice(place, 1)
  delete thread.job
  return thread.worker.terminate()
}
