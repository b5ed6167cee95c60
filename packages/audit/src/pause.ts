/** Milliseconds of work between two turns of the event loop. */
const longestTurnMs = 10

/** Returns a function that lets the event loop run once enough time has passed, and ends an aborted audit. */
export function createPause(signal: AbortSignal): () => Promise<void> {
  let since = performance.now()
  return async () => {
    signal.throwIfAborted()
    if (performance.now() - since < longestTurnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
}
