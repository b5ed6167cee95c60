import { turnLength } from './pause.js'

/**
 * Spreads the work of many clients over turns of the event loop, by a function to await before each piece:
 * callers go on in order, and after 10 ms the rest follows in the next turn.
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
