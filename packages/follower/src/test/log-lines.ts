import type { Log } from '@ratatosk/ports'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly [field: string]: unknown
}

export class LogLines implements Log {
  readonly lines: LogLine[] = []
  readonly #waiting = new Set<() => void>()

  info(fields: object, message: string): void {
    this.#add({ ...fields, level: 'info', message })
  }

  warn(fields: object, message: string): void {
    this.#add({ ...fields, level: 'warn', message })
  }

  error(fields: object, message: string): void {
    this.#add({ ...fields, level: 'error', message })
  }

  get backedOff(): { peer: unknown; reason: unknown; backoffMs: unknown }[] {
    return this.lines
      .filter(({ message }) => message === 'Peer backed off')
      .map(({ peer, reason, backoffMs }) => ({ peer, reason, backoffMs }))
  }

  /** The first matching line, past or future. Rejects after `timeoutMs`. */
  async line(matches: (line: LogLine) => boolean, timeoutMs = 60_000): Promise<LogLine> {
    const deadline = AbortSignal.timeout(timeoutMs)
    for (;;) {
      const found = this.lines.find(matches)
      if (found) return found
      await new Promise<void>((resolve, reject) => {
        this.#waiting.add(resolve)
        deadline.addEventListener('abort', () =>
          reject(new Error(`No log line within ${timeoutMs} ms matches ${matches}`)),
        )
      })
    }
  }

  #add(line: LogLine): void {
    this.lines.push(line)
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
