/** When something happens again and again. */
interface Schedule {
  /** Milliseconds between two times, from 1. */
  readonly everyMs: number
  /** One of the times, in POSIX milliseconds. */
  readonly from: number
  /** The present time in POSIX milliseconds. */
  now(): number
}

/**
 * Calls `run` at the times of a schedule, until the returned function ends it. An interval of Node.js falls
 * behind by a millisecond or two each time: blocks would drift and miss slots.
 */
export function runOnSchedule({ everyMs, from, now }: Schedule, run: () => void): () => void {
  let timer: NodeJS.Timeout
  function wait(): void {
    const since = (now() - from) % everyMs
    timer = setTimeout(
      () => {
        run()
        wait()
      },
      everyMs - ((since + everyMs) % everyMs),
    )
  }
  wait()
  return () => clearTimeout(timer)
}
