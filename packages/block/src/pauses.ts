/** Milliseconds of work between two pauses. */
const longestRunMs = 10

/** Waits for a macrotask, so that timers and I/O of this thread can run. Browsers lack `setImmediate`. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

/**
 * For loops over what others make long: returns a function that pauses if 10 ms have passed since it did so
 * last.
 *
 * @example
 * const pauseIfDue = createPauses()
 * for (const item of items) {
 *   await pauseIfDue()
 *   work(item)
 * }
 */
export function createPauses(): () => Promise<void> {
  let pausedAt = performance.now()
  return async () => {
    if (performance.now() - pausedAt <= longestRunMs) return
    await pause()
    pausedAt = performance.now()
  }
}
