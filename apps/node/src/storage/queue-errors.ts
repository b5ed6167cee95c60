import type { Log } from '@ratatosk/ports'

/** Milliseconds until the same message is logged again. */
const repeatMs = 30_000

/**
 * Logs the errors of a queue. While its server does not answer, each connection reports the same one at each
 * retry: that is one line in 30 seconds, which counts them.
 *
 * @param server what is asked, such as `Redis at redis://127.0.0.1:6379`
 */
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
