import { turnLength } from './pause.js'

/**
 * Spreads work that many clients cause at once over turns of the event loop.
 *
 * @returns a function to await before a piece of work: the callers go on in their order, and when those of a
 * turn have worked for 10 ms, the others follow in the next one
 */
export function createTurns(): () => Promise<void> {
  const waiting = new Set<() => void>()
  /** Whether a step is due in this turn. */
  let stepping = false
  /** When the first of this turn went on, in milliseconds of `performance.now()`. */
  let began: number | undefined

  /** After the one before has worked, as far as it waits for nothing. */
  function stepSoon(): void {
    stepping = true
    queueMicrotask(() => process.nextTick(step))
  }

  function step(): void {
    stepping = false
    const [oldest] = waiting
    if (oldest === undefined) return
    if (began === undefined) setImmediate(nextTurn)
    began ??= performance.now()
    if (performance.now() - began >= turnLength) return
    waiting.delete(oldest)
    stepSoon()
    oldest()
  }

  function nextTurn(): void {
    began = undefined
    step()
  }

  return () =>
    new Promise((resolve) => {
      waiting.add(resolve)
      if (!stepping) stepSoon()
    })
}
