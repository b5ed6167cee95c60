import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { RootsError } from './errors.js'
import { createExitGuard } from './exit-guard.js'
import type { Kind, Questions, Request, Response, ThreadData } from './messages.js'
import type { RootsOptions } from './types.js'

/** A thread that computes roots and is asked one thing at a time. */
export interface RootsThread {
  /** @param moved buffers that the thread takes over */
  ask<K extends Kind>(
    kind: K,
    question: Questions[K]['question'],
    moved?: ArrayBuffer[],
  ): Promise<Questions[K]['answer']>
  /** Closes the store and ends the thread; a thread that broke is ended already. */
  close(): Promise<void>
}

/** Where this runs from source, as in tests, the thread needs the compiled program: Node.js has no loader for the other. */
const program = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/roots/roots-thread.js', import.meta.url)
  : new URL('./roots-thread.js', import.meta.url)

/** Starts a thread and waits until it has opened its store. */
export async function createRootsThread(options: RootsOptions): Promise<RootsThread> {
  const guard = createExitGuard()
  guard.asking()
  const workerData: ThreadData = { options, busy: guard.busy }
  const worker = new Worker(program, { name: 'roots', workerData })
  let waiting: { resolve(answer: Questions[Kind]['answer']): void; reject(error: Error): void } | undefined
  let ended: RootsError | undefined
  const exit = once(worker, 'exit').then(
    () => end('The thread of the roots has ended'),
    (error: unknown) =>
      end(`The thread of the roots broke: ${error instanceof Error ? error.message : error}`),
  )

  function end(message: string): void {
    guard.release()
    ended = new RootsError('ROOTS_THREAD_ENDED', message)
    waiting?.reject(ended)
    waiting = undefined
  }

  function nextAnswer(): Promise<Questions[Kind]['answer']> {
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject }
    })
  }

  worker.on('message', (response: Response) => {
    const asked = waiting
    waiting = undefined
    if ('answer' in response) return asked?.resolve(response.answer)
    const { code, message, ...details } = response.fault
    asked?.reject(new RootsError(code, message, details))
  })

  async function ask<K extends Kind>(
    kind: K,
    question: Questions[K]['question'],
    moved: ArrayBuffer[] = [],
  ): Promise<Questions[K]['answer']> {
    if (ended !== undefined) throw ended
    const answer = nextAnswer()
    guard.asking()
    worker.postMessage({ kind, question } as Request, moved)
    return answer as Promise<Questions[K]['answer']>
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
