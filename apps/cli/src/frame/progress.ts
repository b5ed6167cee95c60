import type { Shell } from './command.js'

/** Milliseconds between two changes of the line. */
const everyMs = 100

/** A line on standard error that says how far a command is, if that is a terminal. */
interface ProgressLine {
  show(text: string): void
  clear(): void
}

export function createProgress({ isTerminal, writeError }: Shell): ProgressLine {
  let shownAt: number | undefined
  return {
    show(text) {
      if (!isTerminal || (shownAt !== undefined && performance.now() - shownAt < everyMs)) return
      shownAt = performance.now()
      writeError(`\r\u001b[K${text}`)
    },
    clear() {
      if (shownAt !== undefined) writeError('\r\u001b[K')
    },
  }
}
