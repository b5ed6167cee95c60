import { setMaxListeners } from 'node:events'

/**
 * Runs `run` under a signal of the caller or a time-out. Node 20 never frees what `AbortSignal.any` attaches,
 * so the listener is removed from the caller's signal.
 *
 * @param run may restart the time
 */
export async function bounded<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  // One listener per concurrent request.
  setMaxListeners(0, controller.signal)
  const end = () => controller.abort(signal?.reason)
  const timeOut = () => controller.abort(new DOMException(`Not done within ${timeoutMs} ms`, 'TimeoutError'))
  const timer = setTimeout(timeOut, timeoutMs).unref()
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  try {
    return await run(controller.signal, () => timer.refresh())
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Rejects when the signal aborts, even if `begun` ignores it: Node's fetch has missed aborts. */
export async function unlessAborted<T>(signal: AbortSignal, begun: Promise<T>): Promise<T> {
  let abort: () => void = () => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([begun, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
