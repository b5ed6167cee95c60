import type { Shell } from './command.js'

/** Milliseconds between two changes of the line. */
const everyMs = 100

/** Says on standard error how far a command is. */
interface ProgressLine {
  show(text: string): void
  clear(): void
}

/**
 * Progress on one line of a terminal.
 * @param isLogged also without a terminal, a line for each text: a log then reports how far a command came
 */
export function createProgress({ isTerminal, writeError }: Shell, isLogged = false): ProgressLine {
  let shownAt: number | undefined
  return {
    show(text) {
      if (!isTerminal) {
        if (isLogged) writeError(`${text}\n`)
        return
      }
      if (!isLogged && shownAt !== undefined && performance.now() - shownAt < everyMs) return
      shownAt = performance.now()
      writeError(`\r\u001b[K${text}`)
    },
    clear() {
      if (shownAt !== undefined) writeError('\r\u001b[K')
    },
  }
}
