import type { Shell } from './command.js'
import { CommandError, UsageError } from './errors.js'
import { visible } from './text.js'

/** Option of a command that asks before it does what cannot be reverted. */
export const yesArgument = {
  yes: { type: 'boolean', description: 'Do not ask; a script needs it' },
} as const

/**
 * Asks whether to go on, unless `--yes` says so.
 *
 * @param consequence lines for people
 * @throws UsageError without a terminal, CommandError unless the answer is yes
 */
export async function confirm(
  { yes }: { readonly yes?: boolean | undefined },
  { ask, writeError }: Shell,
  consequence: () => Promise<readonly string[]>,
): Promise<void> {
  if (yes) return
  if (ask === undefined)
    throw new UsageError('Nothing was done: without a terminal to ask on, this command needs --yes.')
  for (const line of await consequence()) writeError(`${visible(line)}\n`)
  const answer = await ask('Go on? [yes/no] ')
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw new CommandError('CLI_NOT_CONFIRMED', 'Nothing was done: only "yes" goes on.')
}

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
