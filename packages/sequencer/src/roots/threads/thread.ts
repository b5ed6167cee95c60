import { once } from 'node:events'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { RootsError } from '../errors.js'
import { createExitGuard } from './exit-guard.js'
import { errorOf } from './fault.js'
import type { Handlers, Request, Response, ThreadData } from './serve.js'

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
