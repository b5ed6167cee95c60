import type { Log } from '../follower/types.js'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly [field: string]: unknown
}

/** A log that keeps its lines, and lets one wait for a line. */
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

  /** Names of the peers that were left alone, with the reasons. */
  get dropped(): { peer: unknown; reason: unknown; restMs: unknown }[] {
    return this.lines
      .filter(({ message }) => message === 'A peer is left alone for a while')
      .map(({ peer, reason, restMs }) => ({ peer, reason, restMs }))
  }

  /** The first line, past or to come, that fits. */
  async line(fits: (line: LogLine) => boolean): Promise<LogLine> {
    for (;;) {
      const found = this.lines.find(fits)
      if (found) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  #add(line: LogLine): void {
    this.lines.push(line)
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
