import { ClientError } from '@ratatosk/client'
import { CommandError } from './errors.js'
import { remedyOf } from './node-connection.js'
import { visible } from './plain-text.js'

/** A transaction that may have been sent, although the command failed after it. */
interface Sent {
  /** Fields of the result that identify it. */
  readonly value: object
  /** Says what to do instead of sending it again: sentences without the last full stop. */
  readonly advice: string
}

/** The error of a command that has sent something: who sends it again would pay twice. */
export function afterSending(error: ClientError | CommandError, { value, advice }: Sent): CommandError {
  const reason = error instanceof ClientError ? `${visible(error.message)}${remedyOf(error)}` : error.message
  return new CommandError(error.code, `${reason.replace(/\.$/, '')}. ${advice}.`, value)
}

/** The answer of a wait for what was sent. @throws CommandError of {@link afterSending} */
export async function awaited<T>(answer: Promise<T>, sent: Sent): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ClientError || error instanceof CommandError) throw afterSending(error, sent)
    throw error
  }
}
