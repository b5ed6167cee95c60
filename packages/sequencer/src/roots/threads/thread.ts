import { once } from 'node:events'
import { parentPort, type ResourceLimits, Worker, workerData } from 'node:worker_threads'
import { BlockError, type BlockErrorCode, isBlockError } from '@ratatosk/block'
import { isTrieError } from '@ratatosk/trie'
import { RootsError, type RootsErrorCode } from '../errors.js'

/** A request, and buffers whose ownership passes to the thread. Nothing if the handler takes no request. */
type Asked<Handler extends Handlers[string]> =
  Parameters<Handler> extends [] ? [] : [request: Parameters<Handler>[0], transfer?: readonly ArrayBuffer[]]

/** A thread as the main thread uses it: one request at a time. */
export interface Thread<Served extends { readonly [Kind in keyof Served]: Handlers[string] }> {
  /** @throws {RootsError} (rejects) `ROOTS_THREAD_ENDED` if the thread ends before it answers */
  ask<Kind extends keyof Served & string>(
    kind: Kind,
    ...request: Asked<Served[Kind]>
  ): Promise<Awaited<ReturnType<Served[Kind]>>>
  readonly ended: boolean
  readonly exit: Promise<void>
  terminate(): Promise<unknown>
}

/** From source, as in tests, a thread needs the compiled program: Node.js cannot load the other. */
const programs = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/roots/threads/', import.meta.url)
  : new URL('./', import.meta.url)

/** Starts the thread that runs `<name>-thread.js`. */
export function startThread<Served extends { readonly [Kind in keyof Served]: Handlers[string] }>(
  name: 'roots' | 'maps',
  resourceLimits: ResourceLimits = {},
): Thread<Served> {
  const guard = createExitGuard()
  const workerData: ThreadData = { busy: guard.busy }
  const worker = new Worker(new URL(`./${name}-thread.js`, programs), { name, workerData, resourceLimits })
  let waiting: { resolve(answer: unknown): void; reject(error: Error): void } | undefined
  let ended: RootsError | undefined
  const exit = once(worker, 'exit').then(
    () => end(`The thread "${name}" has ended`),
    (error: unknown) => end(`The thread "${name}" failed: ${error instanceof Error ? error.message : error}`),
  )

  function end(message: string): void {
    guard.release()
    ended = new RootsError('ROOTS_THREAD_ENDED', message)
    waiting?.reject(ended)
    waiting = undefined
  }

  worker.on('message', (response: Response) => {
    const asked = waiting
    waiting = undefined
    if ('answer' in response) asked?.resolve(response.answer)
    else asked?.reject(errorOf(response.fault))
  })

  return {
    async ask<Kind extends keyof Served & string>(
      kind: Kind,
      ...[request, transfer = []]: readonly [request?: unknown, transfer?: readonly ArrayBuffer[]]
    ): Promise<Awaited<ReturnType<Served[Kind]>>> {
      if (ended !== undefined) throw ended
      const answer = new Promise<unknown>((resolve, reject) => {
        waiting = { resolve, reject }
      })
      guard.requested()
      worker.postMessage({ kind, request } satisfies Request, transfer)
      return (await answer) as Awaited<ReturnType<Served[Kind]>>
    },
    get ended() {
      return ended !== undefined
    },
    exit,
    terminate: () => worker.terminate(),
  }
}

/** The requests that a thread answers, by kind. The main thread knows it as a type: `typeof handlers`. */
interface Handlers {
  readonly [kind: string]: (request: never) => unknown
}

interface Request {
  readonly kind: string
  readonly request: unknown
}

/** A message from a thread: the answer to the only request that it has. */
type Response = { readonly answer: unknown } | { readonly fault: ThreadFault }

interface ThreadData {
  readonly busy: Busy
}

/** Serves requests on this thread, one at a time. The thread ends after it has answered `close`. */
export function serve(handlers: Handlers): void {
  const port = parentPort
  if (port === null) throw new Error('This program runs only as a worker thread')
  const { busy }: ThreadData = workerData

  port.on('message', async ({ kind, request }: Request) => {
    const response = await answer(handlers[kind], request)
    markIdle(busy)
    port.postMessage(response)
    if (kind === 'close') port.close()
  })
}

async function answer(handler: Handlers[string] | undefined, request: unknown): Promise<Response> {
  try {
    return { answer: await handler?.(request as never) }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

/** Shared by the main thread and a thread that it asks: 1 while the main thread waits for an answer. */
type Busy = Int32Array<SharedArrayBuffer>

/** Delays `process.exit()` until a thread is idle: one stopped in an LMDB transaction never ends. */
interface ExitGuard {
  readonly busy: Busy
  /** To be called before each request to the thread. */
  requested(): void
  /** To be called when the thread has ended. */
  release(): void
}

/** Longer than any transaction takes. After this time the process ends regardless. */
const maxWaitMs = 60_000

function createExitGuard(): ExitGuard {
  const busy = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const wait = () => Atomics.wait(busy, 0, 1, maxWaitMs)
  process.once('exit', wait)
  return {
    busy,
    requested: () => Atomics.store(busy, 0, 1),
    release: () => process.off('exit', wait),
  }
}

/** To be called on the thread when a request is done. */
function markIdle(busy: Busy): void {
  Atomics.store(busy, 0, 0)
  Atomics.notify(busy, 0)
}

/** A `BlockError` or `RootsError` in the form in which it crosses threads. */
interface ThreadFault {
  readonly code: BlockErrorCode | RootsErrorCode
  readonly message: string
  readonly reference?: string
  readonly position?: number
}

function faultOf(error: unknown): ThreadFault {
  if (isBlockError(error)) {
    const { code, message, reference, position } = error
    return {
      code,
      message,
      ...(reference !== undefined && { reference }),
      ...(position !== undefined && { position }),
    }
  }
  const message = error instanceof Error ? error.message : String(error)
  if (isTrieError(error) && error.code === 'TRIE_STORE_CONFLICT')
    return { code: 'ROOTS_STORE_CONFLICT', message }
  if (isTrieError(error) && error.code === 'TRIE_STORE_CORRUPT')
    return { code: 'ROOTS_STORE_CORRUPT', message }
  return { code: 'ROOTS_FAILED', message }
}

function errorOf({ code, message, ...details }: ThreadFault): Error {
  return isRootsCode(code) ? new RootsError(code, message) : new BlockError(code, message, details)
}

const isRootsCode = (code: RootsErrorCode | BlockErrorCode): code is RootsErrorCode =>
  code.startsWith('ROOTS_')
