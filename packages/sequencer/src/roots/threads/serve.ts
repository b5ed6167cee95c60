import { parentPort, workerData } from 'node:worker_threads'
import { type Busy, markIdle } from './exit-guard.js'
import { faultOf, type ThreadFault } from './fault.js'

/** The requests that a thread answers, by kind. The main thread knows it as a type: `typeof handlers`. */
export interface Handlers {
  readonly [kind: string]: (request: never) => unknown
}

export interface Request {
  readonly kind: string
  readonly request: unknown
}

/** A message from a thread: the answer to the only request that it has. */
export type Response = { readonly answer: unknown } | { readonly fault: ThreadFault }

export interface ThreadData {
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
