import { CommandError } from '../frame/errors.js'

const mostBytes = 16 * 1024 * 1024

/** The text of an answer. @throws CommandError if it is longer than any honest one */
export async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for await (const piece of body ?? []) {
    bytes += piece.length
    if (bytes > mostBytes) throw new CommandError('CLI_ANSWER', `The answer has more than ${mostBytes} bytes`)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}
