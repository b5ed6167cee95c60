import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work after which timers and sockets take their turn. */
export const turnLength = 10

/** @returns a function to await between the steps of long work: it lets other work take its turn */
export function createPause(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < turnLength) return
    await setImmediate()
    since = performance.now()
  }
}
