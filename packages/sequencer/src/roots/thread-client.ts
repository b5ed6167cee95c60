import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { BlockError, type BlockErrorCode } from '@ratatosk/block'
import { RootsError, type RootsErrorCode } from '../errors.js'
import { createExitGuard } from './exit-guard.js'
import type { Exchanges, Fault, Kind, Request, Response, ThreadData } from './messages.js'
import type { RootsOptions } from './types.js'

/** The roots' thread as the main thread uses it: one request at a time. */
export interface ThreadClient {
  /** @param transfer buffers whose ownership passes to the thread */
  ask<K extends Kind>(
    kind: K,
    request: Exchanges[K]['request'],
    transfer?: ArrayBuffer[],
  ): Promise<Exchanges[K]['answer']>
  /** Closes the store and ends the thread, unless it has ended already. */
  close(): Promise<void>
}

/**
 * What a block of 10,000 transactions needs for a moment. With the default of 48 MB, most of it is moved to
 * where objects are kept before it is garbage: in a profile, collection took a quarter of the time. What this
 * saves was not told apart from noise on a busy machine.
 */
const maxYoungGenerationSizeMb = 192

/** From source, as in tests, the thread needs the compiled program: Node.js cannot load the other. */
const program = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/roots/roots-thread.js', import.meta.url)
  : new URL('./roots-thread.js', import.meta.url)

/** Starts the thread and waits until it has opened its store. */
export async function startThread(options: RootsOptions): Promise<ThreadClient> {
  const guard = createExitGuard()
  guard.requested()
  const workerData: ThreadData = { options, busy: guard.busy }
  const resourceLimits = { maxYoungGenerationSizeMb }
  const worker = new Worker(program, { name: 'roots', workerData, resourceLimits })
  let waiting: { resolve(answer: Exchanges[Kind]['answer']): void; reject(error: Error): void } | undefined
  let ended: RootsError | undefined
  const exit = once(worker, 'exit').then(
    () => end('The thread that computes roots has ended'),
    (error: unknown) =>
      end(`The thread that computes roots failed: ${error instanceof Error ? error.message : error}`),
  )

  function end(message: string): void {
    guard.release()
    ended = new RootsError('ROOTS_THREAD_ENDED', message)
    waiting?.reject(ended)
    waiting = undefined
  }

  function nextAnswer(): Promise<Exchanges[Kind]['answer']> {
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject }
    })
  }

  worker.on('message', (response: Response) => {
    const asked = waiting
    waiting = undefined
    if ('answer' in response) asked?.resolve(response.answer)
    else asked?.reject(errorOf(response.fault))
  })

  async function ask<K extends Kind>(
    kind: K,
    request: Exchanges[K]['request'],
    transfer: ArrayBuffer[] = [],
  ): Promise<Exchanges[K]['answer']> {
    if (ended !== undefined) throw ended
    const answer = nextAnswer()
    guard.requested()
    worker.postMessage({ kind, request } as Request, transfer)
    return answer as Promise<Exchanges[K]['answer']>
  }

  try {
    await nextAnswer()
  } catch (error) {
    await worker.terminate()
    throw error
  }

  return {
    ask,
    async close() {
      if (ended === undefined) await ask('close', undefined)
      await exit
    },
  }
}

function errorOf({ code, message, ...details }: Fault): Error {
  return isRootsCode(code) ? new RootsError(code, message) : new BlockError(code, message, details)
}

const isRootsCode = (code: RootsErrorCode | BlockErrorCode): code is RootsErrorCode =>
  code.startsWith('ROOTS_')
