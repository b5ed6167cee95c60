import type { Log } from '@ratatosk/ports'

/** Milliseconds until the same message is logged again. */
const repeatMs = 30_000

/** Logs a queue's errors. While its server does not answer, equal ones are one counted line in 30 seconds. */
export function logQueueErrors(
  log: Pick<Log, 'warn'>,
  server: string,
  now: () => number = () => performance.now(),
): (error: Error) => void {
  const seen = new Map<string, { readonly loggedAt: number; since: number }>()
  return (err) => {
    const time = now()
    const known = seen.get(err.message)
    if (known !== undefined && time < known.loggedAt + repeatMs) {
      known.since++
      return
    }
    for (const [message, { loggedAt }] of seen) if (time >= loggedAt + repeatMs) seen.delete(message)
    seen.set(err.message, { loggedAt: time, since: 0 })
    log.warn(
      { err, ...(known?.since && { repeated: known.since }) },
      `${server} failed in a call of the queue`,
    )
  }
}
