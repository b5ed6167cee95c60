/** A record of a pino log. */
export interface LogRecord {
  readonly level: number
  readonly msg: string
  readonly reqId?: string
  readonly err?: { readonly message: string; readonly stack?: string; readonly code?: string }
  readonly [field: string]: unknown
}

/** Fastify's own messages about servers and requests. */
const routine = /^(Server listening|incoming request|request completed)/

/**
 * A pino destination that keeps its records.
 *
 * @example
 * const log = recordedLog()
 * const server = fastify({ logger: { level: 'info', stream: log.stream } })
 */
export function recordedLog() {
  const lines: string[] = []
  return {
    stream: { write: (line: string) => void lines.push(line) },
    /** As written: one JSON text each, with its line break. */
    lines,
    /** Without Fastify's records about starting, incoming requests and completed requests. */
    records: (): LogRecord[] =>
      lines.map((line): LogRecord => JSON.parse(line)).filter(({ msg }) => !routine.test(msg)),
  }
}
