import { setMaxListeners } from 'node:events'

/**
 * Runs under a signal that ends with the caller's, or with `TimeoutError` when the time is over. Whatever hangs on the caller's
 * signal is taken off it again, because callers pass signals that live as long as their process; what `AbortSignal.any` hangs there,
 * Node 20 never frees.
 */
export async function bounded<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  // As many as there are requests under way.
  setMaxListeners(0, controller.signal)
  const end = () => controller.abort(signal?.reason)
  const timeOut = () =>
    controller.abort(new DOMException(`Not within ${timeoutMs} milliseconds`, 'TimeoutError'))
  const timer = setTimeout(timeOut, timeoutMs).unref()
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  try {
    return await run(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Rejects with the signal's reason when it aborts, even where what was begun does not listen: Node's fetch has been seen to miss it. */
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
