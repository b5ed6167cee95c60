import type { FastifyBaseLogger } from 'fastify'

/** Milliseconds between two log lines. */
const reportEveryMs = 10_000

/**
 * Counts refused requests by kind and logs the counts since the start, as a warning, at most once in ten
 * seconds: a flood of requests must not become a flood of log lines.
 *
 * @param message of the log line
 *
 * @example
 * ```ts
 * const report = refusalLog(fastify.log, 'Too many carts')
 * report('full')
 * ```
 */
export function refusalLog(log: FastifyBaseLogger, message: string): (kind: string) => void {
  const counts: Record<string, number> = {}
  let last = Number.NEGATIVE_INFINITY
  return (kind) => {
    counts[kind] = (counts[kind] ?? 0) + 1
    if (performance.now() - last < reportEveryMs) return
    last = performance.now()
    log.warn({ ...counts }, message)
  }
}
